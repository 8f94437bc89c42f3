package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Node is what is read of a v1 Node.
type Node struct {
	Metadata struct {
		Name              string            `json:"name"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ProviderID string  `json:"providerID"`
		Taints     []Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
		NodeInfo   struct {
			KubeletVersion string `json:"kubeletVersion"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Effect string `json:"effect"`
}

// Condition is a condition of a node.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

type nodeList struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []Node `json:"items"`
}

// Nodes lists all nodes. A list that changed so long that its pages expired
// is begun again, once.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	nodes, err := c.nodes(ctx)
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusGone {
		nodes, err = c.nodes(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return nodes, nil
}

func (c *Client) nodes(ctx context.Context) ([]Node, error) {
	var all []Node
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for {
		var page nodeList
		if err := c.get(ctx, "/api/v1/nodes", query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Metadata.Continue == "" {
			return all, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}
