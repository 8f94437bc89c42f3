package table

import (
	"encoding/base64"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

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
