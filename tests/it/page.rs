//! The page that a sweep writes beside its report.

use crate::browser::{Browser, chromium};
use crate::support::Bench;

#[test]
fn a_sweep_writes_a_page_that_opens_from_disk() {
    let bench = Bench::quick();
    bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    let file = bench.path("reports/quick/report.html");
    assert!(file.is_file());
    let Some(program) = chromium() else { return };
    let mut browser = Browser::start(&program, 1200, 900);
    browser.open(&file);
    let names =
        browser.eval("[...document.querySelectorAll('#rows tr[data-case] .name span')].map(s => s.textContent)");
    assert!(names.as_array().unwrap().iter().any(|name| name == "plain"), "{names}");
    assert_eq!(
        browser.eval("!!document.querySelector('#answer .headline').textContent.match(/^(Take|Keep|No case) /)"),
        true
    );
    // The links lead to the logs, also through a folder with blanks and quotes in its name.
    let links = browser
        .eval("[...document.querySelectorAll('#rows a')].map(a => decodeURIComponent(new URL(a.href).pathname))");
    let links = links.as_array().unwrap();
    assert!(!links.is_empty());
    for link in links {
        assert!(std::path::Path::new(link.as_str().unwrap()).is_file(), "{link}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}
