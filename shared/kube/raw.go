package kube

import (
	"context"
	"encoding/json"
	"net/url"
)

// Raw gives the object at path as the API answers it. The error is a *StatusError
// where the API answered.
func (c *Client) Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := c.get(ctx, path, query, &raw); err != nil {
		return nil, err
	}
	return raw, nil
}
