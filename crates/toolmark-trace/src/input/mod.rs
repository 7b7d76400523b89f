//! Reads records from a path or stream: decompression, detection of the layout, splitting.

pub(crate) mod archive;
pub(crate) mod buffers;
pub(crate) mod decode;
pub(crate) mod frames;
pub(crate) mod limits;
pub(crate) mod shape;
