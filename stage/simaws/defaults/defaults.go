// Package defaults fills in what a description of a resource leaves out and AWS
// would always show.
package defaults

// Set sets a field that the file left out.
func Set[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

// SetPlain sets an enum or other plain field that the file left out.
func SetPlain[T comparable](field *T, v T) {
	var zero T
	if *field == zero {
		*field = v
	}
}
