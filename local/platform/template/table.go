package template

type tableKey struct{ AttributeName, KeyType string }

type tableIndex struct {
	IndexName  string
	KeySchema  []tableKey
	Projection struct {
		ProjectionType   string
		NonKeyAttributes []string
	}
	ProvisionedThroughput, OnDemandThroughput, WarmThroughput, ContributorInsightsSpecification inert
	WriteProvisionedThroughputSettings, WriteOnDemandThroughputSettings                         inert
}

func (x tableIndex) read() Index {
	return Index{Name: x.IndexName, Keys: keys(x.KeySchema), Projection: x.Projection.ProjectionType, NonKey: x.Projection.NonKeyAttributes}
}

func keys(schema []tableKey) []Key {
	var out []Key
	for _, k := range schema {
		out = append(out, Key{Name: k.AttributeName, Type: k.KeyType})
	}
	return out
}

func (t *Template) addTable(id string, n named, properties map[string]any) error {
	var p struct {
		TableName, BillingMode, TableClass            string
		KeySchema                                     []tableKey
		AttributeDefinitions                          []struct{ AttributeName, AttributeType string }
		GlobalSecondaryIndexes, LocalSecondaryIndexes []tableIndex
		TimeToLiveSpecification                       struct {
			AttributeName string
			Enabled       flag
		}
		StreamSpecification struct {
			StreamViewType string
			ResourcePolicy inert
		}
		SSESpecification, PointInTimeRecoverySpecification         inert
		DeletionProtectionEnabled, ProvisionedThroughput           inert
		OnDemandThroughput, WarmThroughput, Tags, Replicas         inert
		ContributorInsightsSpecification, ResourcePolicy           inert
		WriteProvisionedThroughputSettings                         inert
		WriteOnDemandThroughputSettings                            inert
		MultiRegionConsistency, GlobalTableSettingsReplicationMode inert
		KinesisStreamSpecification, ImportSourceSpecification      inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	table := Table{
		LogicalID: id, Name: n.name, ARN: n.arn, Keys: keys(p.KeySchema), Attributes: map[string]string{},
		OnDemand: p.BillingMode == "PAY_PER_REQUEST", StreamView: p.StreamSpecification.StreamViewType,
	}
	for _, a := range p.AttributeDefinitions {
		table.Attributes[a.AttributeName] = a.AttributeType
	}
	if p.TimeToLiveSpecification.Enabled {
		table.TTLAttribute = p.TimeToLiveSpecification.AttributeName
	}
	for _, x := range p.GlobalSecondaryIndexes {
		table.GlobalIndexes = append(table.GlobalIndexes, x.read())
	}
	for _, x := range p.LocalSecondaryIndexes {
		table.LocalIndexes = append(table.LocalIndexes, x.read())
	}
	all := [][]Key{table.Keys}
	for _, x := range append(table.GlobalIndexes, table.LocalIndexes...) {
		all = append(all, x.Keys)
	}
	for _, ks := range all {
		if len(ks) == 0 {
			return place{id, "Properties.KeySchema"}.refuse("missing")
		}
		for _, k := range ks {
			if table.Attributes[k.Name] == "" {
				return place{id, "Properties.AttributeDefinitions"}.refuse("key %q is not defined", k.Name)
			}
		}
	}
	t.Tables = append(t.Tables, table)
	return nil
}
