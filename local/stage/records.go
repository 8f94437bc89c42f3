package stage

import (
	"encoding/json"
	"slices"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
)

// keyed is a member of a write of DynamoDB that holds a partition key.
type keyed struct {
	Item, Key map[string]string
}

// UnmarshalJSON takes in the keys' texts; attributes of other types are not keys.
func (k *keyed) UnmarshalJSON(text []byte) error {
	var raw struct {
		Item, Key map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	texts := func(from map[string]map[string]json.RawMessage) map[string]string {
		to := map[string]string{}
		for name, value := range from {
			var s string
			if json.Unmarshal(value["S"], &s) == nil {
				to[name] = s
			}
		}
		return to
	}
	k.Item, k.Key = texts(raw.Item), texts(raw.Key)
	return nil
}

// records is what IAM sees of a write of DynamoDB: the table, and as
// dynamodb:LeadingKeys the partition key of each record that is written
// (docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html;
// "Using IAM policy conditions for fine-grained access control",
// docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html).
// Writes of another form (PartiQL, transactions) are of no table here, so that no
// statement for a table lets them through.
func (t things) records(body wire.Passed) (arn string, keys map[string][]string, ok bool) {
	var in struct {
		TableName    string
		RequestItems map[string][]struct{ PutRequest, DeleteRequest keyed }
	}
	var one keyed
	if json.Unmarshal(body, &in) != nil || json.Unmarshal(body, &one) != nil {
		return "", nil, false
	}
	list := []keyed{one}
	for name, requests := range in.RequestItems {
		in.TableName = name // the functions have one table
		for _, r := range requests {
			list = append(list, r.PutRequest, r.DeleteRequest)
		}
	}
	i := slices.IndexFunc(t.tables, func(table template.Table) bool { return in.TableName == table.Name || in.TableName == table.ARN })
	if i < 0 || len(t.tables[i].Keys) == 0 {
		return "", nil, false
	}
	partition := t.tables[i].Keys[0].Name
	var leading []string
	for _, k := range list {
		for _, values := range []map[string]string{k.Item, k.Key} {
			if v, is := values[partition]; is {
				leading = append(leading, v)
			}
		}
	}
	if len(leading) == 0 {
		return "", nil, false
	}
	return t.tables[i].ARN, map[string][]string{"dynamodb:LeadingKeys": leading}, true
}
