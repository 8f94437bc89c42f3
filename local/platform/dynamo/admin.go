package dynamo

import "slices"

type schemaElement struct{ AttributeName, KeyType string }

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type indexDefinition struct {
	IndexName  string
	KeySchema  []schemaElement
	Projection projection
}

type attributeDefinition struct{ AttributeName, AttributeType string }

type createTable struct {
	TableName              string
	KeySchema              []schemaElement
	AttributeDefinitions   []attributeDefinition
	GlobalSecondaryIndexes []indexDefinition
	BillingMode            string
}

// description is as much of a table's as its waiters read.
type description struct {
	TableName, TableStatus string
}

func (in *createTable) do(s *Server) (any, error) {
	if s.tables[in.TableName] != nil {
		return nil, &refusal{"ResourceInUseException", "Table already exists: " + in.TableName}
	}
	if in.TableName == "" || in.BillingMode != "PAY_PER_REQUEST" {
		return nil, unknown("a table %q with the billing mode %q", in.TableName, in.BillingMode)
	}
	var named []string
	for _, a := range in.AttributeDefinitions {
		if a.AttributeType != "S" {
			return nil, unknown("a key %s of type %s", a.AttributeName, a.AttributeType)
		}
		named = append(named, a.AttributeName)
	}
	key, err := schema(in.KeySchema)
	if err != nil {
		return nil, err
	}
	used := key.names()
	t := &table{name: in.TableName, key: key, indexes: map[string]*index{}, records: partitions{byKeys(key.ranged), map[string][]item{}}}
	for _, d := range in.GlobalSecondaryIndexes {
		x := &index{include: d.Projection.NonKeyAttributes, all: d.Projection.ProjectionType == "ALL"}
		if x.key, err = schema(d.KeySchema); err != nil {
			return nil, err
		}
		if !x.all && d.Projection.ProjectionType != "INCLUDE" {
			return nil, unknown("a projection %s", d.Projection.ProjectionType)
		}
		x.records = partitions{byKeys(x.key.ranged, key.hash, key.ranged), map[string][]item{}}
		t.indexes[d.IndexName] = x
		used = append(used, x.key.names()...)
	}
	slices.Sort(used)
	slices.Sort(named)
	if !slices.Equal(slices.Compact(used), slices.Compact(named)) {
		return nil, invalid("One or more parameter values were invalid: the keys are %v, the attributes that are defined %v", used, named)
	}
	s.tables[t.name] = t
	return struct{ TableDescription description }{description{t.name, "ACTIVE"}}, nil
}

// schema reads two keys: Rollcall's tables and indexes have no fewer.
func schema(list []schemaElement) (keySchema, error) {
	if len(list) != 2 || list[0].KeyType != "HASH" || list[1].KeyType != "RANGE" {
		return keySchema{}, unknown("a key that is not one to hash and one to sort by")
	}
	return keySchema{list[0].AttributeName, list[1].AttributeName}, nil
}

type describeTable struct{ TableName string }

func (in *describeTable) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return struct{ Table description }{description{t.name, "ACTIVE"}}, nil
}

type listTables struct{}

func (*listTables) do(s *Server) (any, error) {
	return struct{ TableNames []string }{append([]string{}, sorted(s.tables)...)}, nil
}
