package kubestate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrNoKind is the answer for a kind that the cluster's API does not have,
// because nobody installed its definition.
var ErrNoKind = errors.New("the cluster does not have this kind")

// List is a list as the Kubernetes API keeps it.
type List struct {
	// ResourceVersion is the version of the whole list.
	ResourceVersion string
	// Items are the objects, each as its JSON.
	Items []json.RawMessage
}

// List lists the objects of a kind by its plural in lower case. A kind that the
// cluster does not have is ErrNoKind.
func (k *Cluster) List(plural string) (List, error) {
	if slices.Contains(customKinds(), plural) && k.Objects[plural] == nil {
		return List{}, ErrNoKind
	}
	list := k.Objects[plural]
	if plural == "nodes" {
		list = nil
		for _, n := range k.Nodes.All() {
			list = append(list, *n)
		}
	}
	out := List{ResourceVersion: strconv.FormatInt(k.Version, 10), Items: make([]json.RawMessage, 0, len(list))}
	for _, o := range list {
		b, err := json.Marshal(o)
		if err != nil {
			return List{}, fmt.Errorf("write %s of %s: %w", plural, k.Name, err)
		}
		out.Items = append(out.Items, b)
	}
	return out, nil
}
