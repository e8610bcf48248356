//! Order statistics of one list, and the bias of predictions measured by medians.

/// The median: the middle of the sorted samples, or the mean of the middle two.
///
/// O(n) expected (selection). `None` if there are no samples or one is not finite.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    if samples.iter().all(|sample| sample.is_finite()) {
        median_in_place(&mut samples.to_vec())
    } else {
        None
    }
}

/// The median of finite samples, which are reordered; saves the copy in resampling loops. `None` if empty.
pub(crate) fn median_in_place(samples: &mut [f64]) -> Option<f64> {
    if samples.is_empty() {
        return None;
    }
    let even = samples.len().is_multiple_of(2);
    let (below, upper, _) = samples.select_nth_unstable_by(samples.len() / 2, f64::total_cmp);
    let upper = *upper;
    if !even {
        return Some(normal_zero(upper));
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(normal_zero(lower.midpoint(upper)))
}

/// The quantile at `p` in `0..=1`, definition 7 of Hyndman and Fan (1996): with sorted samples `x[0..n]` and
/// `h = (n - 1) p`, it is `x[floor h]` plus the fraction of `h` times the step to the next sample. Linear, the default
/// of R and `NumPy`; at 0.5 it is the median.
///
/// O(n log n). `None` if there are no samples, one is not finite, or `p` is outside `0..=1`.
#[must_use]
pub fn quantile(samples: &[f64], p: f64) -> Option<f64> {
    if !samples.iter().all(|sample| sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, p)
}

/// [`quantile`] of finite samples that are sorted already. O(1).
pub(crate) fn quantile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    if sorted.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let position = (sorted.len() - 1) as f64 * p;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and the length"
    )]
    let index = position.floor() as usize;
    let lower = *sorted.get(index)?;
    let upper = *sorted.get(index + 1).unwrap_or(&lower);
    let fraction = position - position.floor();
    // Weighted form: the difference of two samples of opposite sign may overflow, this sum cannot. Equal neighbours
    // are returned untouched, so that ties stay exact.
    let value = if lower.total_cmp(&upper).is_eq() {
        lower
    } else {
        lower * (1.0 - fraction) + upper * fraction
    };
    Some(normal_zero(value))
}

/// Median of `100 |predicted - measured| / measured`, in percent (median absolute percentage error; as the mean form in
/// Hyndman and Koehler 2006, with the median in its place because one outlier must not decide).
///
/// Same order in both lists. O(n). `None` if they are empty or of different lengths, a prediction is not finite, a
/// measured value is not positive and finite, or a quotient leaves the range of `f64`.
#[must_use]
pub fn median_absolute_percentage_error(predicted: &[f64], measured: &[f64]) -> Option<f64> {
    median_of_pairs(predicted, measured, |p, m| 100.0 * ((p - m) / m).abs())
}

/// Median of `predicted / measured`: 1 is unbiased, 2 says that the model promises twice the time.
///
/// Same order in both lists. O(n). `None` in the same cases as [`median_absolute_percentage_error`].
#[must_use]
pub fn median_ratio(predicted: &[f64], measured: &[f64]) -> Option<f64> {
    median_of_pairs(predicted, measured, |p, m| p / m)
}

fn median_of_pairs(predicted: &[f64], measured: &[f64], term: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let usable = predicted.len() == measured.len()
        && predicted.iter().all(|p| p.is_finite())
        && measured.iter().all(|m| m.is_finite() && *m > 0.0);
    if !usable {
        return None;
    }
    let terms: Vec<f64> = predicted.iter().zip(measured).map(|(p, m)| term(*p, *m)).collect();
    median(&terms)
}

/// Negative zero becomes zero: it compares equal but prints and sorts differently.
pub(crate) fn normal_zero(value: f64) -> f64 {
    value + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIED: [f64; 12] = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];

    #[test]
    fn medians_worked_by_hand() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0]), Some(4.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 6.0]), Some(5.5));
        assert_eq!(median(&[2.0, 2.0, 2.0, 7.0]), Some(2.0));
        assert_eq!(median(&[1.0, f64::NAN, 3.0]), None);
        assert_eq!(median(&[1.0, f64::INFINITY]), None);
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert!(median(&[-0.0]).unwrap().is_sign_positive());
    }

    #[test]
    fn quantiles_agree_with_numpy() {
        // numpy 2.4.6, `np.quantile(TIED, p)` (default method "linear", which is type 7).
        let expected = [
            (0.0, 8.0),
            (0.05, 8.0),
            (0.1, 8.3),
            (0.25, 11.0),
            (0.5, 12.5),
            (0.9, 19.275_000_000_000_002),
            (0.975, 27.112_499_999_999_997),
            (1.0, 30.0),
        ];
        for (p, value) in expected {
            assert!((quantile(&TIED, p).unwrap() - value).abs() < 1e-12, "at {p}");
        }
        assert_eq!(quantile(&TIED, 1.1), None);
        assert_eq!(quantile(&TIED, f64::NAN), None);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[f64::MIN, f64::MAX], 0.5), Some(0.0));
    }

    #[test]
    fn bias_worked_by_hand() {
        // Ratios 2, 0.5, 1.5, 1; errors 100, 50, 50, 0 percent.
        let (predicted, measured) = ([2.0, 2.0, 3.0, 7.0], [1.0, 4.0, 2.0, 7.0]);
        assert_eq!(median_ratio(&predicted, &measured), Some(1.25));
        assert_eq!(median_absolute_percentage_error(&predicted, &measured), Some(50.0));
        assert_eq!(median_ratio(&[1.0], &[0.0]), None);
        assert_eq!(median_ratio(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(median_ratio(&[], &[]), None);
        assert_eq!(median_ratio(&[f64::NAN], &[1.0]), None);
        assert_eq!(median_ratio(&[f64::MAX], &[f64::MIN_POSITIVE]), None);
    }
}
