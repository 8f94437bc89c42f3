package take

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"

	"rollcall/local/simaws/route53profiles"
	"rollcall/shared/awsjson"
	"rollcall/shared/capture/filename"
)

// profiles takes the Route 53 Profiles of the account's VPCs and their resources, and returns
// the ARNs of the resources.
func (t *taker) profiles(ctx context.Context) []string {
	client := awsjson.New(t.asked.Config, awsjson.Service{ID: "Route53Profiles", Name: "route53profiles", MostBytes: maxBytes})
	take := func(file, operation, path string, out reflect.Type) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, _, err := t.jsonPages(ctx, "route53profiles", operation, out, 0, func(next string, raw *json.RawMessage) error {
				query := url.Values{"maxResults": {"100"}}
				if next != "" {
					query.Set("nextToken", next)
				}
				return client.Get(ctx, operation, path, query, nil, raw)
			})
			return tree, err
		})
	}
	associations := take("route53profiles-list-profile-associations", "ListProfileAssociations", "profileassociations",
		reflect.TypeFor[route53profiles.ListProfileAssociationsOutput]())
	ids := sorted(picksOf(associations, "ProfileAssociations[].ProfileId"))
	arns := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		resources := take(filename.Of("route53profiles-list-profile-resource-associations", id), "ListProfileResourceAssociations",
			"profileresourceassociations/profileid/"+url.PathEscape(id), reflect.TypeFor[route53profiles.ListProfileResourceAssociationsOutput]())
		arns[i] = picksOf(resources, "ProfileResourceAssociations[].ResourceArn")
	})
	var all []string
	for _, of := range arns {
		all = append(all, of...)
	}
	return all
}
