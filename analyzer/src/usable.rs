//! Which calls of a round can be counted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use target_api::{Measurement, Of, PeakProbe, Sample};

/// A measurement without the pairs of which a number can't be a time: zero, negative or not finite, as a clock that was set
/// or an overflow leaves them. They are counted, by reason.
pub(crate) fn usable<'m>(measurement: &'m Measurement, left_out: &mut BTreeMap<String, usize>) -> Cow<'m, Measurement> {
    let positive = |number: f64| number.is_finite() && number > 0.0;
    let bad_sample = |sample: &Sample| !sample.warm_up && !positive(sample.value);
    let bad_probe = |probe: &PeakProbe| !positive(probe.peak_gflops);
    if !measurement.samples.iter().any(bad_sample) && !measurement.probes.iter().any(bad_probe) {
        return Cow::Borrowed(measurement);
    }
    // The k-th counted call of either side and the k-th probe are one pair; probes of warm-up calls come first.
    let counted = |of: Of| {
        measurement
            .samples
            .iter()
            .filter(move |sample| sample.of == of && !sample.warm_up)
    };
    let warm_up = measurement.probes.len().saturating_sub(counted(Of::Case).count());
    let mut bad: BTreeSet<usize> = BTreeSet::new();
    for (of, what) in [(Of::Case, "a call"), (Of::Control, "a call of the control")] {
        for (place, sample) in counted(of).enumerate().filter(|(_, sample)| bad_sample(sample)) {
            if bad.insert(place) {
                *left_out
                    .entry(format!("{what} of {}, no positive number", shown(sample.value)))
                    .or_default() += 1;
            }
        }
    }
    for (place, probe) in measurement
        .probes
        .iter()
        .skip(warm_up)
        .enumerate()
        .filter(|(_, probe)| bad_probe(probe))
    {
        if bad.insert(place) {
            *left_out
                .entry(format!(
                    "a peak probe of {}, no positive number",
                    shown(probe.peak_gflops)
                ))
                .or_default() += 1;
        }
    }
    let mut kept = measurement.clone();
    let mut places: BTreeMap<Of, usize> = BTreeMap::new();
    kept.samples.retain(|sample| {
        if sample.warm_up {
            return true;
        }
        let place = places.entry(sample.of).or_default();
        *place += 1;
        !bad.contains(&(*place - 1))
    });
    let mut probe = 0;
    kept.probes.retain(|_| {
        probe += 1;
        probe <= warm_up || !bad.contains(&(probe - 1 - warm_up))
    });
    Cow::Owned(kept)
}

/// What kind of number it is: no reason is a list of them.
fn shown(number: f64) -> &'static str {
    match number {
        number if number.is_nan() => "NaN",
        number if number.is_infinite() => "infinity",
        number if number < 0.0 => "less than zero",
        _ => "zero",
    }
}
