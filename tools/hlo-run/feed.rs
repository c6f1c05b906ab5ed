//! The host side of infeeds and outfeeds: reads arrays from files, and writes a file for each received value.

use crate::array_files::ArrayFiles;
use hlo_ir::host::{Host, expected};
use hlo_ir::{Literal, Shape};
use hlo_tools_common::{Failure, npz, write_file};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The source of infeeds and the destination of outfeeds.
pub struct Feed {
    /// The files of `--infeed`.
    files: Option<ArrayFiles>,
    /// The number of arrays read in this run.
    consumed: usize,
    /// The folder of `--outfeed`.
    folder: Option<PathBuf>,
    /// Whether received values are written to files.
    writes: bool,
    /// The values received in this run, if they are stored.
    sent: Vec<Literal>,
    keeps: bool,
    count: usize,
}

impl Feed {
    /// Opens the files of `--infeed` and creates the folder of `--outfeed`. With `keeps`, received values are
    /// stored for comparison.
    pub fn open(infeed: &[String], outfeed: Option<&str>, keeps: bool) -> Result<Self, Failure> {
        let files = (!infeed.is_empty()).then(|| ArrayFiles::in_order(infeed)).transpose()?;
        if let Some(folder) = outfeed {
            std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, e))?;
        }
        let folder = outfeed.map(PathBuf::from);
        Ok(Self { files, consumed: 0, folder, writes: true, sent: Vec::new(), keeps, count: 0 })
    }

    /// Prepares for another run that starts at the first array. `writes` selects whether files are written.
    pub fn rewind(&mut self, writes: bool) {
        (self.consumed, self.count, self.writes) = (0, 0, writes);
        self.sent.clear();
    }

    /// Returns the number of arrays that the last run did not read.
    pub fn left(&self) -> usize {
        self.files.as_ref().map_or(0, |f| f.len().saturating_sub(self.consumed))
    }

    /// Returns the values received in the last run, if they are stored.
    pub fn take_sent(&mut self) -> Vec<Literal> {
        std::mem::take(&mut self.sent)
    }

    /// Returns the array for one leaf of an infeed.
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

/// Writes a received value: an array to `outfeed_N.npy`, a tuple to `outfeed_N.npz`.
fn write(folder: &Path, number: usize, value: &Literal) -> Result<(), Failure> {
    match value.shape() {
        Shape::Tuple(_) => {
            let file = folder.join(format!("outfeed_{number}.npz"));
            write_file(&file, |file| npz::write(BufWriter::new(file), "out", &value.leaves()))
        }
        _ => crate::results::write_npy(&folder.join(format!("outfeed_{number}.npy")), value),
    }
}
