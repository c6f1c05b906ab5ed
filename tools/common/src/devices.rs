//! `--num-replicas` and `--num-partitions`: the number of devices of a module.

use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// The numbers of replicas and partitions, if they differ from those in the module's header.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct DeviceArgs {
    /// The number of replicas of the program, which work on different data; that of the module if not given
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(i64).range(1..), help_heading = "Devices")]
    pub num_replicas: Option<i64>,

    /// The number of devices that work on each replica; that of the module if not given
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(i64).range(1..), help_heading = "Devices")]
    pub num_partitions: Option<i64>,
}

impl DeviceArgs {
    /// Writes the given numbers to the header of a module, and verifies the module if `verify` is true.
    ///
    /// # Errors
    /// Returns an error if the module is not valid for these numbers of devices.
    pub fn set(self, module: &mut Module, verify: bool) -> Result<(), Vec<Diag>> {
        if self.num_replicas.is_none() && self.num_partitions.is_none() {
            return Ok(());
        }
        let header = &mut module.header;
        header.replica_count.0 = self.num_replicas.unwrap_or(header.replica_count.0);
        header.num_partitions.0 = self.num_partitions.unwrap_or(header.num_partitions.0);
        let violations = if verify { hlo_ir::verify::verify(module) } else { Vec::new() };
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}
