// Package table keeps the resources of one kind in the order in which they
// came, and answers describe calls from it: filters, ids, pages and tokens as
// EC2 has them.
package table

import (
	"encoding/base64"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
)

// Table keeps resources by id in the order in which they came, which is the
// order in which they are described.
type Table[T any] struct {
	order []entry
	byID  map[string]row[T]
	last  uint64
}

// entry is a resource's place in the order. Its number never changes, so a
// page can begin where the one before ended while resources come and go.
type entry struct {
	id     string
	number uint64
}

type row[T any] struct {
	v      *T
	number uint64
}

// New is a table without resources.
func New[T any]() *Table[T] { return &Table[T]{byID: map[string]row[T]{}} }

// Put adds a resource, or replaces the one with this id in its place. An id
// that is used again after its resource was removed comes last.
func (t *Table[T]) Put(id string, v *T) {
	r, ok := t.byID[id]
	if !ok {
		t.last++
		r.number = t.last
		t.order = append(t.order, entry{id, r.number})
	}
	r.v = v
	t.byID[id] = r
}

// Get is nil where there is none.
func (t *Table[T]) Get(id string) *T { return t.byID[id].v }

// Number is a resource's place in the order, 0 where there is none.
func (t *Table[T]) Number(id string) uint64 { return t.byID[id].number }

func (t *Table[T]) Remove(id string) {
	if _, ok := t.byID[id]; !ok {
		return
	}
	delete(t.byID, id)
	// Entries stay in order until half of them are gone, so that removing many
	// does not move the rest each time.
	if len(t.order) >= 2*len(t.byID)+16 {
		t.order = slices.DeleteFunc(t.order, func(e entry) bool { return !t.lives(e) })
	}
}

func (t *Table[T]) lives(e entry) bool { return t.byID[e.id].number == e.number }

// from are the resources in order, beginning with the first whose number is
// not below the one given. Finding it does not go over those before.
func (t *Table[T]) from(number uint64) iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		first := sort.Search(len(t.order), func(i int) bool { return t.order[i].number >= number })
		for _, e := range t.order[first:] {
			if r := t.byID[e.id]; r.number == e.number && !yield(e.number, r.v) {
				return
			}
		}
	}
}

// All are the resources in order.
func (t *Table[T]) All() []*T {
	out := make([]*T, 0, len(t.byID))
	for _, v := range t.from(0) {
		out = append(out, v)
	}
	return out
}

// Filters says, for one kind of resource, which values a filter looks at.
type Filters[T any] map[string]func(*T) []string

// matcher reports whether every filter admits a resource. A filter does if any of
// its values matches any of the resource's; "*" stands for any text and "?" for
// one character. tags is nil for untagged kinds.
func matcher[T any](want []ec2types.Filter, known Filters[T], tags func(*T) []ec2types.Tag) (func(*T) bool, error) {
	values := make([]func(*T) []string, len(want))
	for i, f := range want {
		var err error
		if values[i], err = filterValues(aws.ToString(f.Name), known, tags); err != nil {
			return nil, err
		}
		if len(f.Values) == 0 {
			return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' has no values", aws.ToString(f.Name))
		}
	}
	return func(v *T) bool {
		for i, f := range want {
			if !Admits(values[i](v), f.Values) {
				return false
			}
		}
		return true
	}, nil
}

func filterValues[T any](name string, known Filters[T], tags func(*T) []ec2types.Tag) (func(*T) []string, error) {
	if values, ok := known[name]; ok {
		return values, nil
	}
	if tags != nil {
		if key, ok := strings.CutPrefix(name, "tag:"); ok {
			return func(v *T) []string {
				var out []string
				for _, t := range tags(v) {
					if aws.ToString(t.Key) == key {
						out = append(out, aws.ToString(t.Value))
					}
				}
				return out
			}, nil
		}
		if name == "tag-key" {
			return func(v *T) []string {
				var out []string
				for _, t := range tags(v) {
					out = append(out, aws.ToString(t.Key))
				}
				return out
			}, nil
		}
	}
	return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' is invalid", name)
}

// Admits reports whether a filter with the values want admits a resource that has
// the values have: "*" stands for any text and "?" for one character.
func Admits(have, want []string) bool {
	for _, w := range want {
		for _, h := range have {
			if wildcard(w, h) {
				return true
			}
		}
	}
	return false
}

// wildcard matches text with a pattern of EC2's filters; a backslash takes the
// next character as it is. It goes back to the last star only, so its time
// is bounded by the product of both lengths.
func wildcard(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p+1 < len(pattern) && pattern[p] == '\\' && pattern[p+1] == text[t]:
			p, t = p+2, t+1
		case p < len(pattern) && pattern[p] != '\\' && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// One is the values of a field that has one, none where it is not set.
func One(s *string) []string {
	if s == nil {
		return nil
	}
	return []string{*s}
}

// YesNo is the value of a switch.
func YesNo(b *bool) []string {
	if aws.ToBool(b) {
		return []string{"true"}
	}
	return []string{"false"}
}

// Each collects a value from every item of a list.
func Each[T any](list []T, value func(T) *string) []string {
	var out []string
	for _, v := range list {
		if s := value(v); s != nil {
			out = append(out, *s)
		}
	}
	return out
}

// Selection is one describe call: which resources, and which page of them.
type Selection[T any] struct {
	Table   *Table[T]
	ID      func(*T) *string
	IDs     []string
	Missing func(ids []string) *wire.Error
	Filters []ec2types.Filter
	Known   Filters[T]
	Tags    func(*T) []ec2types.Tag
	// Hidden tells what a list leaves out; what is asked for by id is shown.
	Hidden func(*T) bool
	// Size and token are the caller's; min and max are what the call allows
	// as a page size, and usual is the size of a page without one (0: all).
	Size         *int32
	Token        *string
	Min, Max     int32
	Usual        int32
	IDsBarPaging string
}

// Run is the resources of the page and the token of the next.
func (s Selection[T]) Run() ([]*T, *string, error) {
	if s.Size != nil && len(s.IDs) > 0 && s.IDsBarPaging != "" {
		return nil, nil, wire.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", s.IDsBarPaging)
	}
	var missing []string
	for _, id := range s.IDs {
		if s.Table.Get(id) == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return nil, nil, s.Missing(missing)
	}
	admits, err := matcher(s.Filters, s.Known, s.Tags)
	if err != nil {
		return nil, nil, err
	}
	if s.Size != nil && (*s.Size < s.Min || *s.Size > s.Max) {
		return nil, nil, wire.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", *s.Size, s.Min, s.Max)
	}
	n := int(s.Usual)
	if s.Size != nil {
		n = int(*s.Size)
	}
	from := uint64(0)
	if s.Token != nil && *s.Token != "" {
		text, ok := ReadToken(*s.Token)
		if from, err = strconv.ParseUint(text, 10, 64); !ok || err != nil {
			return nil, nil, wire.Errorf("InvalidNextToken", "The token '%s' is invalid", *s.Token)
		}
	}
	var list []*T
	for number, v := range s.rows(from) {
		if !admits(v) || s.Hidden != nil && len(s.IDs) == 0 && s.Hidden(v) {
			continue
		}
		if n > 0 && len(list) == n {
			next := WriteToken(strconv.FormatUint(number, 10))
			return list, &next, nil
		}
		list = append(list, v)
	}
	return list, nil, nil
}

// rows are the resources from a number on: of the ids alone where there are
// any, without going over the others.
func (s Selection[T]) rows(from uint64) iter.Seq2[uint64, *T] {
	if len(s.IDs) == 0 {
		return s.Table.from(from)
	}
	numbers := make(map[uint64]*T, len(s.IDs))
	for _, id := range s.IDs {
		if n := s.Table.Number(id); n >= from {
			numbers[n] = s.Table.Get(id)
		}
	}
	return func(yield func(uint64, *T) bool) {
		for _, n := range slices.Sorted(maps.Keys(numbers)) {
			if !yield(n, numbers[n]) {
				return
			}
		}
	}
}

// Page cuts a list after the item that the token names. A token names an item
// rather than a number, so that pages stay whole while the list changes.
func Page[T any](list []*T, id func(*T) *string, token *string, size int, bad func() *wire.Error) ([]*T, *string, error) {
	from := 0
	if token != nil && *token != "" {
		last, ok := ReadToken(*token)
		if !ok {
			return nil, nil, bad()
		}
		from = len(list)
		for i, v := range list {
			if *id(v) == last {
				from = i
				break
			}
		}
	}
	list = list[from:]
	if size <= 0 || len(list) <= size {
		return list, nil, nil
	}
	next := WriteToken(*id(list[size]))
	return list[:size], &next, nil
}

// tokenMark tells our tokens from other text.
const tokenMark = "next:"

func WriteToken(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(tokenMark + id))
}

func ReadToken(token string) (string, bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(b), tokenMark)
}
