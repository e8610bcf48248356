//! What to try: workloads, geometries, definitions, enumeration and selection.
