package queue

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func TestAttributeDigest(t *testing.T) {
	for _, tt := range []struct {
		name       string
		attributes map[string]types.MessageAttributeValue
		want       string
	}{
		{"none", nil, ""},
		{"number", map[string]types.MessageAttributeValue{
			"timestamp": {DataType: aws.String("Number"), StringValue: aws.String("1493147359900")},
		}, "235c5c510d26fb653d073faed50ae77c"},
	} {
		if got := attributeDigest(tt.attributes); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestContentHash(t *testing.T) {
	// The SHA-256 of the empty string and of "abc", from FIPS 180-2.
	for body, want := range map[string]string{
		"":    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	} {
		if got := contentHash(body); got != want {
			t.Errorf("contentHash(%q): got %q, want %q", body, got, want)
		}
	}
}
