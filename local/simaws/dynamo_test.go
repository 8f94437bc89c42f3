package simaws

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

func TestDynamoDB(t *testing.T) {
	emulator := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.") || !strings.Contains(string(body), "incident") {
			t.Errorf("the emulator got %q %q", r.Header.Get("X-Amz-Target"), body)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if strings.Contains(string(body), "ConditionExpression") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	c := start(t, func(cfg *Config) { cfg.DynamoDB = emulator })
	client := dynamodb.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	in := &dynamodb.PutItemInput{TableName: aws.String("t"), Item: map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "incident"}}}
	if _, err := client.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.ConditionExpression = aws.String("attribute_not_exists(pk)")
	var failed *ddbtypes.ConditionalCheckFailedException
	if _, err := client.PutItem(t.Context(), in); !errors.As(err, &failed) {
		t.Errorf("error = %v, want a failed condition", err)
	}
	var got []string
	for _, call := range c.Calls() {
		got = append(got, call.Action()+" "+call.Code)
	}
	if diff := cmp.Diff(got, []string{"dynamodb:PutItem ", "dynamodb:PutItem ConditionalCheckFailedException"}); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
}
