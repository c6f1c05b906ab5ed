//! Starts the runs of programs on the ranks of a job.

use crate::member::MpiMember;
use crate::run::Run;
use crate::world::MpiWorld;
use hlo_communicator::{Body, Failure, Options, Table, World, catch_panic};
use std::ops::Range;
use std::sync::Arc;

impl World for MpiWorld {
    fn local_devices(&self, devices: usize) -> Range<usize> {
        self.devices_of(self.rank(), devices)
    }

    fn run(&self, table: Arc<Table>, options: Options<'_>, body: &Body<'_>) -> Result<(), (usize, Failure)> {
        let local = self.local_devices(table.devices());
        let first = local.start;
        if self.is_broken() {
            let message = "the run before has ended so that MPI can't go on";
            return Err((first, Failure::Local(message.into())));
        }
        self.set_failed(None);
        let made = self.communicators(&table).map_err(|failure| (first, failure))?;
        let run = Run::new(self, table, options, made);
        let outcome = run.run(&|device| {
            let member = MpiMember::new(&run, device);
            catch_panic(|| body(&member))
        });
        self.set_failed(outcome.as_ref().err().map(|(device, _)| (*device, local.contains(device))));
        outcome
    }
}
