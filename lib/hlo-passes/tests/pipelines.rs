//! The named pipelines need only the passes of this crate. A test program of its own, because others register more passes.

use hlo_passes::{PIPELINES, Pipeline};

#[test]
fn named_pipelines_need_no_other_crate() {
    for pipeline in PIPELINES {
        assert!(Pipeline::parse(pipeline.name).is_ok(), "{}", pipeline.name);
    }
    let error = Pipeline::parse("hlo-verify").err().expect("a pass of hlo-passes-xla");
    assert!(error.notes.iter().any(|note| note.contains("hlo-passes-xla")), "{:?}", error.notes);
}
