package wire

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
)

func TestDecodeJSON(t *testing.T) {
	tests := []struct {
		name, body string
		in, want   any
		refused    string // part of the message
	}{
		{"no body", "", &eks.DescribeClusterInput{}, &eks.DescribeClusterInput{}, ""},
		{"nulls", `{"name":null}`, &eks.DescribeClusterInput{}, &eks.DescribeClusterInput{}, ""},
		{"nested", `{"clusterName":"c","nodegroupName":"n","scalingConfig":{"minSize":0,"desiredSize":1},"labels":{"addOrUpdateLabels":{"a":"b"}},"taints":{"removeTaints":[{"key":"k","effect":"NO_SCHEDULE"}]}}`,
			&eks.UpdateNodegroupConfigInput{}, &eks.UpdateNodegroupConfigInput{
				ClusterName: aws.String("c"), NodegroupName: aws.String("n"),
				ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(0), DesiredSize: aws.Int32(1)},
				Labels:        &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"a": "b"}},
				Taints:        &ekstypes.UpdateTaintsPayload{RemoveTaints: []ekstypes.Taint{{Key: aws.String("k"), Effect: "NO_SCHEDULE"}}},
			}, ""},
		{"epoch seconds", `{"Entries":[{"Time":1795230000.5}]}`, &eventbridge.PutEventsInput{}, &eventbridge.PutEventsInput{
			Entries: []ebtypes.PutEventsRequestEntry{{Time: aws.Time(time.UnixMilli(1795230000500).UTC())}}}, ""},
		{"ISO time", `{"Entries":[{"Time":"2026-11-20T21:00:00Z"}]}`, &eventbridge.PutEventsInput{}, &eventbridge.PutEventsInput{
			Entries: []ebtypes.PutEventsRequestEntry{{Time: aws.Time(time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC))}}}, ""},
		{"blob", `{"SecretBinary":"AP8="}`, &secretsmanager.PutSecretValueInput{}, &secretsmanager.PutSecretValueInput{SecretBinary: []byte{0, 255}}, ""},
		{"not JSON", `{`, &eks.DescribeClusterInput{}, nil, "not JSON"},
		{"two values", `{}{}`, &eks.DescribeClusterInput{}, nil, "goes on"},
		{"not an object", `[]`, &eks.DescribeClusterInput{}, nil, "not a JSON object"},
		{"unknown member", `{"colour":1}`, &eks.DescribeClusterInput{}, nil, `unknown member "colour"`},
		{"metadata is not a member", `{"ResultMetadata":{}}`, &eks.DescribeClusterOutput{}, nil, "unknown member"},
		{"number for a string", `{"name":1}`, &eks.DescribeClusterInput{}, nil, "name is a number"},
		{"string for a number", `{"scalingConfig":{"minSize":"0"}}`, &eks.UpdateNodegroupConfigInput{}, nil, "scalingConfig.minSize is a string"},
		{"object for a string", `{"name":{}}`, &eks.DescribeClusterInput{}, nil, "name is an object"},
		{"list for a string", `{"name":[]}`, &eks.DescribeClusterInput{}, nil, "name is a list"},
		{"fraction for a whole number", `{"VisibilityTimeout":1.5}`, &sqs.ReceiveMessageInput{}, nil, "VisibilityTimeout"},
		{"broken blob", `{"SecretBinary":"*"}`, &secretsmanager.PutSecretValueInput{}, nil, "not base64"},
		{"absurd time", `{"Entries":[{"Time":1e300}]}`, &eventbridge.PutEventsInput{}, nil, "not a time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeJSON([]byte(tt.body), tt.in)
			var e *Error
			switch {
			case tt.refused == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.refused != "" && (!errors.As(err, &e) || e.Code != "SerializationException" || !strings.Contains(e.Message, tt.refused)):
				t.Errorf("error = %v, want a SerializationException with %q", err, tt.refused)
			case tt.refused == "":
				if diff := cmp.Diff(tt.in, tt.want, sameWire); diff != "" {
					t.Errorf("(-got +want):\n%s", diff)
				}
			}
		})
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add([]byte(`{"Entries":[{"Time":1795230000.5,"Detail":"{}","Resources":["a"]}]}`))
	f.Add([]byte(`{"Entries":[{"Time":1e400}],"EndpointId":null}`))
	f.Add([]byte(`{"":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		err := decodeJSON(body, &eventbridge.PutEventsInput{})
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("error = %v, want an API error", err)
		}
	})
}

func TestEncodeJSON(t *testing.T) {
	got, err := encodeJSON(t.Context(), &eks.DescribeNodegroupOutput{Nodegroup: &ekstypes.Nodegroup{
		NodegroupName: aws.String(`a"b`), CreatedAt: aws.Time(time.UnixMilli(1795230000250)), Status: ekstypes.NodegroupStatusActive,
		Health: &ekstypes.NodegroupHealth{Issues: []ekstypes.Issue{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"nodegroup":{"createdAt":1795230000.25,"health":{"issues":[]},"nodegroupName":"a\"b","status":"ACTIVE"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
