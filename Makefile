# The main commands of the project. Most targets first install missing packages (Debian: apt-get). You do not need to set
# environment variables: .cargo/config.toml contains the path of LLVM.

.PHONY: run all docs dist wheel test-wheel mpi test test-full prove random corpus memcheck tsan bench fuzz ulp ci deps fmt

# Builds hlo-opt and hlo-run, and runs an example.
run: deps
	cargo build --release --locked --bin hlo-opt --bin hlo-run -p hlo-tools
	sh scripts/example.sh

# Builds every tool, and the runtime library for programs compiled ahead of time.
all: deps
	cargo build --release --locked --lib --bins -p hlo-tools -p hlo-lsp -p hlo-serve -p hlo-aot-runtime

# Builds the pages and the documentation of the crates as a site: target/site/index.html. Installs mdBook if it is missing.
docs: deps
	command -v mdbook >/dev/null || cargo install --locked mdbook
	mdbook build
	cargo doc --locked --workspace --no-deps
	rm -rf target/site/api
	cp -r $${CARGO_TARGET_DIR:-target}/doc target/site/api

# Builds target/dist/*.tar.gz: the binaries, which need only glibc, with manual pages and completions.
dist: deps
	sh scripts/dist.sh

# Builds target/wheel/*.whl: the Python package, with the plugin for JAX and the tools. `make test-wheel` installs it in a new
# virtual environment, with JAX from PyPI, and tests it there.
wheel: deps
	sh scripts/wheel.sh

test-wheel: wheel
	sh scripts/test-wheel.sh

# Runs all tests of all crates, including compiled execution, and those of the Python package if Python can install JAX. MPI=1
# also tests devices on several ranks, and installs Open MPI for that.
test: deps
	@sh scripts/deps.sh --prove
	cargo test --locked --workspace $(if $(MPI),--features hlo-tools/mpi) --no-fail-fast
	HLO_PJRT_LIBRARY=$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug/deps/libhlo_pjrt.so sh scripts/test-python.sh

# Installs Open MPI if it is missing, and tests devices on several ranks: first the library, then hlo-run under mpirun, then
# ranks on two machines that share only a network.
mpi:
	@sh scripts/deps.sh --mpi
	cargo test --locked -p hlo-communicator -p hlo-mpi --features hlo-mpi/mpi --no-fail-fast
	cargo test --locked -p hlo-tools --features mpi --test mpi
	sh scripts/two-machines.sh

# Proves the rewrite rules that changed, and updates lib/hlo-passes/rules/proofs.txt. ALL=1 proves all rules again.
prove: deps
	@sh scripts/deps.sh --prove
	cargo run --release --locked -q -p hlo-prove -- $(if $(ALL),--expect,--cache) lib/hlo-passes/rules/proofs.txt

# Runs every pass on every module of the corpus; `make test` runs a sample of them. PASSES=a,b selects passes.
test-full: test
	HLO_MATRIX=1 $(if $(PASSES),HLO_MATRIX_PASSES=$(PASSES)) cargo test --locked --test matrix

# Compares both engines on COUNT (default 100000) random programs, starting at seed SEED (default 0). With EMPTY=1 all of the
# programs contain many arrays without elements, instead of a third of the programs.
random: deps
	$(if $(EMPTY),HLO_EMPTY=1) HLO_RANDOM=$(or $(COUNT),100000) HLO_SEED=$(or $(SEED),0) cargo test --locked --test suite random:: -- --nocapture

# Runs the corpus with several numbers of threads, THREADS (default 2,3,8), and compares the results bit for bit. CORPUS
# specifies a folder of other cases.
corpus: deps
	HLO_THREADS=$${THREADS:-2,3,8} $(if $(CORPUS),HLO_CORPUS=$(CORPUS)) cargo test --locked --test corpus

# Runs the execution tests and the corpus under valgrind, which takes hours. FILTER is a substring of the names of the tests to run.
memcheck: deps
	sh scripts/memcheck.sh $(FILTER)

# Runs random collectives between devices under ThreadSanitizer. RUNS is the number of runs (default 200).
tsan:
	sh scripts/tsan.sh $(RUNS)

# Measures the compile and run times of the modules in bench/modules, the time per element of each mathematical function, Tile
# compared to HLO text, loop nests compared to loops in Rust, and the speed of parsing and printing.
bench: deps
	cargo build --release --locked --bins
	cargo run --release --locked -q --example bench
	cargo run --release --locked -q --example functions
	cargo run --release --locked -q --example tile_bench
	cargo run --release --locked -q -p hlo-parser --example text_bench -- \
	    bench/modules/gpt_train_step/module.hlo bench/modules/resnet50_fwd_b1/module.hlo

# Fuzzes the parsers and hlo-opt, for FUZZ_SECONDS (default 600) for each target.
fuzz:
	sh scripts/fuzz.sh

# Measures the error of every mathematical function, also for all f32 values, and writes the tables of docs/numerics.md.
ulp: deps
	cargo run --release --locked -q --example ulp

# Runs all checks that a change must pass: formatting, lints, tests, documentation, the text tools without LLVM, the parser
# tests in release mode, and the steps in the page about adding an opcode.
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
	sh scripts/one-build.sh
	$(MAKE) prove ALL=1

# Installs the packages that the build needs besides Rust.
deps:
	@sh scripts/deps.sh $(if $(MPI),--mpi)

fmt:
	cargo fmt --all
