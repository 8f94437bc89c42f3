package world

import (
	"encoding/base64"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rollcall/local/platform/wire"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// selection is one describe call: which resources, and which page of them.
type selection[T any] struct {
	table   *table[T]
	id      func(*T) *string
	ids     []string
	missing func(ids []string) *wire.Error
	filters []ec2types.Filter
	known   filters[T]
	tags    func(*T) []ec2types.Tag
	// hidden tells what a list leaves out; what is asked for by id is shown.
	hidden func(*T) bool
	// size and token are the caller's; min and max are what the call allows
	// as a page size, and usual is the size of a page without one (0: all).
	size         *int32
	token        *string
	min, max     int32
	usual        int32
	idsBarPaging string
}

// run is the resources of the page and the token of the next.
func (s selection[T]) run() ([]*T, *string, error) {
	if s.size != nil && len(s.ids) > 0 && s.idsBarPaging != "" {
		return nil, nil, wire.Errorf("InvalidParameterCombination", "The parameter %s cannot be used with the parameter maxResults", s.idsBarPaging)
	}
	var missing []string
	for _, id := range s.ids {
		if s.table.get(id) == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return nil, nil, s.missing(missing)
	}
	admits, err := matcher(s.filters, s.known, s.tags)
	if err != nil {
		return nil, nil, err
	}
	if s.size != nil && (*s.size < s.min || *s.size > s.max) {
		return nil, nil, wire.Errorf("InvalidParameterValue", "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", *s.size, s.min, s.max)
	}
	n := int(s.usual)
	if s.size != nil {
		n = int(*s.size)
	}
	from := uint64(0)
	if s.token != nil && *s.token != "" {
		text, ok := readToken(*s.token)
		if from, err = strconv.ParseUint(text, 10, 64); !ok || err != nil {
			return nil, nil, wire.Errorf("InvalidNextToken", "The token '%s' is invalid", *s.token)
		}
	}
	var list []*T
	for number, v := range s.rows(from) {
		if !admits(v) || s.hidden != nil && len(s.ids) == 0 && s.hidden(v) {
			continue
		}
		if n > 0 && len(list) == n {
			next := writeToken(strconv.FormatUint(number, 10))
			return list, &next, nil
		}
		list = append(list, v)
	}
	return list, nil, nil
}

// rows are the resources from a number on: of the ids alone where there are
// any, without going over the others.
func (s selection[T]) rows(from uint64) iter.Seq2[uint64, *T] {
	if len(s.ids) == 0 {
		return s.table.from(from)
	}
	numbers := make(map[uint64]*T, len(s.ids))
	for _, id := range s.ids {
		if n := s.table.number(id); n >= from {
			numbers[n] = s.table.get(id)
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

// page cuts a list after the item that the token names. A token names an item
// rather than a number, so that pages stay whole while the list changes.
func page[T any](list []*T, id func(*T) *string, token *string, size int, bad func() *wire.Error) ([]*T, *string, error) {
	from := 0
	if token != nil && *token != "" {
		last, ok := readToken(*token)
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
	next := writeToken(*id(list[size]))
	return list[:size], &next, nil
}

// tokenMark tells our tokens from other text.
const tokenMark = "next:"

func writeToken(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(tokenMark + id))
}

func readToken(token string) (string, bool) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(string(b), tokenMark)
}
