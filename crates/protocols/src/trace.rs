//! The one record of what happened in a run. Worlds and nodes write it; the judge, the metrics and
//! the plots read it, and need nothing else.
