package simaws

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/local/platform/dynamo"
)

// The meter counts as DynamoDB bills: a write unit for each KB, half a read
// unit for each 4 KB that may be old, and what a refused write takes.
func TestMeter(t *testing.T) {
	db := dynamo.New()
	if err := db.CreateTable(t.Context(), "table"); err != nil {
		t.Fatal(err)
	}
	meter := &Meter{}
	c := start(t, func(cfg *Config) { cfg.DynamoDB, cfg.Meter = db, meter })
	client := dynamodb.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	text := func(s string) ddbtypes.AttributeValue { return &ddbtypes.AttributeValueMemberS{Value: s} }
	item := map[string]ddbtypes.AttributeValue{"pk": text("a"), "sk": text("b"), "body": text(string(make([]byte, 2500)))}
	in := &dynamodb.PutItemInput{TableName: aws.String("table"), Item: item}
	if _, err := client.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.ConditionExpression, in.ExpressionAttributeNames = aws.String("attribute_not_exists(#pk)"), map[string]string{"#pk": "pk"}
	if _, err := client.PutItem(t.Context(), in); err == nil {
		t.Fatal("a second item took the place of the first")
	}
	keys := []map[string]ddbtypes.AttributeValue{{"pk": text("a"), "sk": text("b")}}
	if _, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]ddbtypes.KeysAndAttributes{"table": {Keys: keys}}}); err != nil {
		t.Fatal(err)
	}
	used := meter.Used()
	if got := used["PutItem"]; got.Calls != 2 || got.Units != 4 {
		t.Errorf("PutItem took %+v, want 2 calls and 3 + 1 units", got)
	}
	if got := used["BatchGetItem"]; got.Calls != 1 || got.Units != 0.5 {
		t.Errorf("BatchGetItem took %+v, want half a unit", got)
	}
}
