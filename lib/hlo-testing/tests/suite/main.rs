//! Tests of the random generators. They are one program, because linking each test program takes time.

mod damaged_texts;
mod dictionary;
mod random_modules;
