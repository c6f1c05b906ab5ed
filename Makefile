# The commands that a person needs. `make run` and `make test` install what is missing first (Debian: apt-get);
# nothing has to be set in the environment: .cargo/config.toml names LLVM's place.

.PHONY: run dist wheel test-wheel mpi test test-full random corpus memcheck tsan bench fuzz ulp ci deps fmt

# Builds the release binaries and runs an example.
run: deps
	cargo build --release --locked --lib --bins -p hlo-tools -p hlo-lsp -p hlo-serve -p hlo-aot-runtime
	sh scripts/example.sh

# A tarball of the binaries, which need nothing but glibc, with manual pages and completions: target/dist/*.tar.gz
dist: deps
	sh scripts/dist.sh

# The Python package, with the plugin for JAX and the tools: target/wheel/*.whl. `make test-wheel` installs it in a new virtual
# environment, with JAX from PyPI, and tests it there.
wheel: deps
	sh scripts/wheel.sh

test-wheel: wheel
	sh scripts/test-wheel.sh

# Every test of every crate, compiled execution included, and of the Python package if there is a Python that can get JAX. With
# MPI=1 devices on several ranks, too: that installs Open MPI.
test: deps
	cargo test --locked --workspace $(if $(MPI),--features hlo-tools/mpi) --no-fail-fast
	HLO_PJRT_LIBRARY=$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/deps/libhlo_pjrt.so sh scripts/test-python.sh

# Installs Open MPI if it is missing, and tests devices on several ranks: the library, then hlo-run under mpirun, then ranks
# on two machines that have only a network in common.
mpi:
	@sh scripts/deps.sh --mpi
	cargo test --locked -p hlo-communicator -p hlo-mpi --features hlo-mpi/mpi --no-fail-fast
	cargo test --locked -p hlo-tools --features mpi --test mpi
	sh scripts/two-machines.sh

# Every pass over every module of the corpus, of which `make test` takes a sample. PASSES=a,b takes these passes.
test-full: test
	HLO_MATRIX=1 $(if $(PASSES),HLO_MATRIX_PASSES=$(PASSES)) cargo test --locked --test matrix

# Compares both engines on COUNT (100000) random programs, from seed SEED (0) on. With EMPTY=1 all of them have many
# arrays without elements, instead of a third.
random: deps
	$(if $(EMPTY),HLO_EMPTY=1) HLO_RANDOM=$(or $(COUNT),100000) HLO_SEED=$(or $(SEED),0) cargo test --locked --test suite random:: -- --nocapture

# The corpus on other numbers of threads than one: THREADS (2,3,8), bit for bit; CORPUS names a folder of other cases.
corpus: deps
	HLO_THREADS=$${THREADS:-2,3,8} $(if $(CORPUS),HLO_CORPUS=$(CORPUS)) cargo test --locked --test corpus

# The execution tests and the corpus under valgrind, which takes hours. FILTER is a part of tests' names.
memcheck: deps
	sh scripts/memcheck.sh $(FILTER)

# What devices do together, under ThreadSanitizer.
tsan:
	sh scripts/tsan.sh $(RUNS)

# Compile and run times of the modules in bench/modules in one table; then the mathematical functions by element, Tile
# beside HLO text and loop nests beside loops in Rust, and how fast text is read and printed.
bench: deps
	cargo build --release --locked --bins
	cargo run --release --locked -q --example bench
	cargo run --release --locked -q --example functions
	cargo run --release --locked -q --example tile_bench
	cargo run --release --locked -q -p hlo-parser --example text_bench -- \
	    bench/modules/gpt_train_step/module.hlo bench/modules/resnet50_fwd_b1/module.hlo

# Looks for texts that break the parser or hlo-opt, FUZZ_SECONDS (600) for each.
fuzz:
	sh scripts/fuzz.sh

# Measures the error of every mathematical function, at every f32 too, and writes the tables of docs/numerics.md.
ulp: deps
	cargo run --release --locked -q --example ulp

# What a change must pass: format, lints, tests, documentation, the text tools without LLVM, the text as it is read by
# optimised code, and the page about adding an opcode, by which one is added.
ci: deps
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --no-default-features --bins -- -D warnings
	cargo test --locked --workspace --no-fail-fast
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps
	cargo test --locked --no-default-features --features libraries --no-fail-fast
	cargo test --locked --no-default-features --features wrong-rewrite --test wrong_rewrite
	cargo test --locked --release -p hlo-ir -p hlo-parser --no-fail-fast
	sh scripts/add-opcode.sh

# Installs what building needs beyond Rust.
deps:
	@sh scripts/deps.sh $(if $(MPI),--mpi)

fmt:
	cargo fmt --all
