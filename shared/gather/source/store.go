package source

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// List reads a list, sorts it by id and stores it in its place.
func List[T any](read func(context.Context, *View) ([]T, error), id func(T) string, place func(*snapshot.Snapshot) *[]T) Read {
	return func(ctx context.Context, v *View) (Store, error) {
		list, err := read(ctx, v)
		return Keep(list, err, id, place)
	}
}

// Keep stores a list in its place, sorted where an id is given.
func Keep[T any](list []T, err error, id func(T) string, place func(*snapshot.Snapshot) *[]T) (Store, error) {
	if err != nil {
		return nil, err
	}
	if id != nil {
		list = Sorted(list, id)
	}
	return func(s *snapshot.Snapshot) { *place(s) = list }, nil
}

// Nothing stores that there is none.
func Nothing(*snapshot.Snapshot) {}

// Each converts a list.
func Each[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

// Sorted sorts a list by id, in place.
func Sorted[T any](list []T, id func(T) string) []T {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return list
}

// Unique sorts a list and drops what is in it twice.
func Unique[T any](list []T, id func(T) string) []T {
	slices.SortStableFunc(list, func(a, b T) int { return strings.Compare(id(a), id(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return id(a) == id(b) })
}

// Distinct are the texts of a list, once each, without the empty one.
func Distinct(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// LackAll notes the items of a source that could not be read.
func LackAll(s *snapshot.Snapshot, source snapshot.Source, items map[string]snapshot.Failure) {
	for key, f := range items {
		s.Lack(source, key, f)
	}
}

// Skipped is the failure of an item that nobody asked for.
func (s Source) Skipped(why string) snapshot.Failure {
	return snapshot.Failure{Source: s.Name, Reason: snapshot.NotRead, Call: s.Call(), Message: why}
}

// Prefix is the range that an answer writes as text; not valid where it writes
// none.
func Prefix(text *string) netip.Prefix {
	if text == nil {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(*text)
	if err != nil {
		return netip.Prefix{}
	}
	return p.Masked()
}
