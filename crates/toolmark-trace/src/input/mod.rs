//! From a path or stream to records: decompression, shape, cutting.

pub(crate) mod archive;
pub(crate) mod buffers;
pub(crate) mod decode;
pub(crate) mod frames;
pub(crate) mod limits;
pub(crate) mod shape;
