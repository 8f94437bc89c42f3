package source

import (
	"context"
	"fmt"
)

// mostPages bounds a list: 1,000 rules, or 50,000 domains.
const mostPages = 10

// Pages reads a list page by page, of a client that returns a page and the token of the
// next one.
func Pages[T any](ctx context.Context, what string, page func(context.Context, string) ([]T, string, error)) ([]T, error) {
	var all []T
	token := ""
	for range mostPages {
		list, next, err := page(ctx, token)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", what, err)
		}
		all = append(all, list...)
		switch next {
		case "":
			return all, nil
		case token:
			return nil, ErrHalf
		}
		token = next
	}
	return nil, fmt.Errorf("list %s: %w", what, ErrTooMany)
}
