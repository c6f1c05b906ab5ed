//! The host's side of infeeds and outfeeds: arrays from files, and a file for each value that is sent.

use crate::array_files::ArrayFiles;
use hlo_ir::host::{Host, expected};
use hlo_ir::{Literal, Shape};
use hlo_tools_common::{Failure, npz, write_file};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// What infeeds read from and outfeeds write to.
pub struct Feed {
    /// `--infeed`.
    files: Option<ArrayFiles>,
    /// The arrays read in this run.
    consumed: usize,
    /// `--outfeed`.
    folder: Option<PathBuf>,
    /// False if what is sent is only kept.
    writes: bool,
    /// What was sent in this run, if it is kept.
    sent: Vec<Literal>,
    keeps: bool,
    count: usize,
}

impl Feed {
    /// Opens the files of `--infeed` and makes the folder of `--outfeed`. With `keeps` what is sent can be compared.
    pub fn open(infeed: &[String], outfeed: Option<&str>, keeps: bool) -> Result<Self, Failure> {
        let files = (!infeed.is_empty()).then(|| ArrayFiles::in_order(infeed)).transpose()?;
        if let Some(folder) = outfeed {
            std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, e))?;
        }
        let folder = outfeed.map(PathBuf::from);
        Ok(Self { files, consumed: 0, folder, writes: true, sent: Vec::new(), keeps, count: 0 })
    }

    /// Begins anew, for another run: from the first array; `writes` says whether files are written.
    pub fn rewind(&mut self, writes: bool) {
        (self.consumed, self.count, self.writes) = (0, 0, writes);
        self.sent.clear();
    }

    /// The number of arrays that the last run left.
    pub fn left(&self) -> usize {
        self.files.as_ref().map_or(0, |f| f.len().saturating_sub(self.consumed))
    }

    /// What the last run sent, if it is kept.
    pub fn take_sent(&mut self) -> Vec<Literal> {
        std::mem::take(&mut self.sent)
    }

    /// The array for one leaf of what an infeed wants.
    fn array(&mut self, leaf: &Shape, wanted: &Shape, consumed: usize) -> Result<Literal, String> {
        let explained = |found: &str| expected(wanted, found, consumed, "array");
        let Some(files) = &mut self.files else { return Err(explained("there is no --infeed")) };
        let Some(array) = leaf.as_array() else { return Err(explained("no array can be one")) };
        if self.consumed >= files.len() {
            return Err(explained("the arrays of --infeed are used up"));
        }
        let read = files.read(self.consumed, array);
        let array = read.map_err(|e| explained(&format!("next is {}: {e}", files.name(self.consumed))))?;
        self.consumed += 1;
        Ok(array)
    }
}

impl Host for Feed {
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        let before = self.consumed;
        let mut arrays = Vec::with_capacity(shape.leaf_count());
        for leaf in shape.leaves() {
            arrays.push(self.array(leaf, shape, before)?);
        }
        Literal::from_leaves(shape, &mut arrays.into_iter()).ok_or_else(|| format!("{shape} can't be read"))
    }

    fn outfeed(&mut self, value: Literal) -> Result<(), String> {
        let Some(folder) = &self.folder else {
            return Err(format!("nothing takes the {} that is sent: there is no --outfeed", value.shape()));
        };
        if self.writes {
            write(folder, self.count, &value).map_err(|e| match e {
                Failure::File { name, message } => format!("{name}: {message}"),
                other => format!("{other:?}"),
            })?;
        }
        self.count += 1;
        if self.keeps {
            self.sent.push(value);
        }
        Ok(())
    }
}

/// Writes what was sent: an array as `outfeed_N.npy`, a tuple as `outfeed_N.npz`.
fn write(folder: &Path, number: usize, value: &Literal) -> Result<(), Failure> {
    match value.shape() {
        Shape::Tuple(_) => {
            let file = folder.join(format!("outfeed_{number}.npz"));
            write_file(&file, |file| npz::write(BufWriter::new(file), "out", &value.leaves()))
        }
        _ => crate::results::write_npy(&folder.join(format!("outfeed_{number}.npy")), value),
    }
}
