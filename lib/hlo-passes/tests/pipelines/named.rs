//! The named pipelines need only the passes of this crate.

use hlo_passes::{PIPELINES, Pipeline};

#[test]
fn every_pipeline_can_be_read() {
    assert!(PIPELINES.is_sorted_by_key(|p| p.name));
    for p in PIPELINES {
        let pipeline = Pipeline::parse(p.name).unwrap_or_else(|d| panic!("{}: {d:?}", p.name));
        assert!(!pipeline.pass_names().is_empty(), "{}", p.name);
        assert_eq!(pipeline.notes().count(), 0, "{}: names as the registry has them", p.name);
    }
}

#[test]
fn named_pipelines_need_no_other_crate() {
    for pipeline in PIPELINES {
        assert!(Pipeline::parse(pipeline.name).is_ok(), "{}", pipeline.name);
    }
    let error = Pipeline::parse("hlo-verify").err().expect("a pass of hlo-passes-xla");
    assert!(error.notes.iter().any(|note| note.contains("hlo-passes-xla")), "{:?}", error.notes);
}
