package incidents

import (
	"context"
	"errors"
	"testing"
)

// A cluster is known that has an incident or a record, or that is watched. That nothing
// is open in another one is not said: the name is wrong, or nobody could look.
func TestKnown(t *testing.T) {
	refused := errors.New("eks:ListClusters: AccessDeniedException")
	for name, tt := range map[string]struct {
		clusters []string
		newer    string
		watched  []string
		err      error
		asked    bool
		says     string
		stranger bool
	}{
		"all":                        {nil, "", nil, nil, false, "", false},
		"with incidents":             {[]string{"prod", "staging"}, "", nil, refused, false, "", false},
		"of a newer release":         {[]string{"new"}, "new", nil, refused, false, "", false},
		"watched, nothing yet":       {[]string{"prod", "dev"}, "", []string{"dev", "prod"}, nil, true, "", false},
		"a slip":                     {[]string{"prdo"}, "", []string{"dev", "prod"}, nil, true, "the deployment knows no cluster prdo; is it prod?", true},
		"one of two":                 {[]string{"prod", "other"}, "", []string{"dev"}, nil, true, "the deployment knows no cluster other, only dev, empty, prod, staging", true},
		"nobody may list clusters":   {[]string{"other"}, "", nil, refused, true, "nothing is recorded of other, and which clusters are watched could not be read: eks:ListClusters: AccessDeniedException", false},
		"recorded, without incident": {[]string{"empty"}, "", nil, refused, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := recorded{both()}
			r.newer = tt.newer
			asked := false
			err := Known(t.Context(), r, tt.clusters, func(context.Context) ([]string, error) {
				asked = true
				return tt.watched, tt.err
			})
			var stranger *StrangerError
			says := ""
			if err != nil {
				says = err.Error()
			}
			if says != tt.says || errors.As(err, &stranger) != tt.stranger || asked != tt.asked {
				t.Errorf("error %q (stranger %t), asked %t; want %q, %t, %t", says, stranger != nil, asked, tt.says, tt.stranger, tt.asked)
			}
		})
	}
	if err := Known(t.Context(), table{err: refused}, []string{"prod"}, nil); !errors.Is(err, refused) {
		t.Errorf("error %v, want that the table could not be read", err)
	}
	if says := (&StrangerError{Cluster: "prod"}).Error(); says != "the deployment knows no cluster prod, nor any other" {
		t.Error(says)
	}
}

// recorded is a table that has a record of a cluster without incidents, too.
type recorded struct{ table }

func (r recorded) Clusters(ctx context.Context) ([]string, error) {
	list, err := r.table.Clusters(ctx)
	return append(list, "empty"), err
}
