package take

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"

	"rollcall/local/simaws/zonalshift"
	"rollcall/shared/awsjson"
)

// zonalShifts takes what is shifted away from a zone, and what can be. Shifts that are over
// are taken too: they tell what happened an hour ago.
func (t *taker) zonalShifts(ctx context.Context) {
	client := awsjson.New(t.asked.Config, awsjson.Service{ID: "ARC Zonal Shift", Name: "arc-zonal-shift", MostBytes: maxBytes})
	take := func(file, operation, path string, out reflect.Type) func() {
		return func() {
			t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
				tree, _, err := t.jsonPages(ctx, "arc-zonal-shift", operation, out, 0, func(next string, raw *json.RawMessage) error {
					query := url.Values{"maxResults": {"100"}}
					if next != "" {
						query.Set("nextToken", next)
					}
					return client.Get(ctx, operation, path, query, nil, raw)
				})
				return tree, err
			})
		}
	}
	t.parallel(
		take("arc-zonal-shift-list-zonal-shifts", "ListZonalShifts", "zonalshifts", reflect.TypeFor[zonalshift.ListZonalShiftsOutput]()),
		take("arc-zonal-shift-list-autoshifts", "ListAutoshifts", "autoshifts", reflect.TypeFor[zonalshift.ListAutoshiftsOutput]()),
		take("arc-zonal-shift-list-managed-resources", "ListManagedResources", "managedresources", reflect.TypeFor[zonalshift.ListManagedResourcesOutput]()),
	)
}
