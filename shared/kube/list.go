package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// TooManyError is a list that is longer than is read of it.
type TooManyError struct {
	What string
	Most int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("there are more than %d %s", e.Most, e.What)
}

type page[T any] struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// list reads all objects at path that the selectors in query admit, but not
// more than most (0: no limit). A list that changed so long that its pages
// expired is begun again, once.
func list[T any](ctx context.Context, c *Client, what, path string, query url.Values, most int) ([]T, error) {
	all, err := pages[T](ctx, c, what, path, query, most)
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusGone {
		all, err = pages[T](ctx, c, what, path, query, most)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return all, nil
}

func pages[T any](ctx context.Context, c *Client, what, path string, selectors url.Values, most int) ([]T, error) {
	var all []T
	size := pageSize
	query := url.Values{"limit": {strconv.Itoa(size)}}
	for key, values := range selectors {
		query[key] = values
	}
	for {
		var p page[T]
		err := c.get(ctx, path, query, &p)
		if tooLarge(err) && size > leastPage {
			// What leads to the next page leads to a smaller one too (Kubernetes, "API
			// concepts", "Retrieving large results sets in chunks").
			size /= 2
			query.Set("limit", strconv.Itoa(size))
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		switch {
		case most > 0 && (len(all) > most || len(all) == most && p.Metadata.Continue != ""):
			return nil, &TooManyError{What: what, Most: most}
		case p.Metadata.Continue == "":
			return all, nil
		}
		query.Set("continue", p.Metadata.Continue)
	}
}

// leastPage is the smallest page that is asked for.
const leastPage = 30

// tooLarge tells that an answer is more than can be handed on on its way (package relay).
func tooLarge(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Code == http.StatusRequestEntityTooLarge
}

// object gets one object; nil for one that does not exist.
func object[T any](ctx context.Context, c *Client, what, path string) (*T, error) {
	var o T
	err := c.get(ctx, path, nil, &o)
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", what, err)
	}
	return &o, nil
}
