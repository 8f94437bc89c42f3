package spoke

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

func TestKeysOfTwoSpokesDiffer(t *testing.T) {
	hub := ID{"111122223333", "us-west-2"}
	for _, test := range []struct {
		id   ID
		want string
	}{
		{hub, "prod"},
		{ID{}, "prod"},
		{ID{Region: "us-west-2"}, "prod"}, // of a release that knew no account
		{ID{"111122223333", "eu-west-1"}, "111122223333/eu-west-1/prod"},
		{ID{"222233334444", "us-west-2"}, "222233334444/us-west-2/prod"},
	} {
		expect.Equal(t, fmt.Sprint(test.id), (Cluster{test.id.RelativeTo(hub), "prod"}).String(), test.want)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Cluster{
		"prod":                             {Name: "prod"},
		"222233334444/eu-west-1/prod":      {ID{"222233334444", "eu-west-1"}, "prod"},
		"222233334444/us-gov-west-1/a_b-c": {ID{"222233334444", "us-gov-west-1"}, "a_b-c"},
		"222233334444/ap-southeast-4/prod": {ID{"222233334444", "ap-southeast-4"}, "prod"},
	} {
		got, err := ParseCluster(text)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"prod/x", "2222/eu-west-1/prod", "222233334444/prod", "222233334444/EU-WEST-1/prod", "222233334444/eu-west-1/x/prod", "222233334444//prod", "/"} {
		if got, err := ParseCluster(text); !errors.Is(err, ErrID) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestPartition(t *testing.T) {
	got := map[string]string{}
	for _, region := range []string{"us-west-2", "cn-north-1", "us-gov-east-1"} {
		got[region] = ID{"111122223333", region}.Partition()
	}
	if diff := cmp.Diff(map[string]string{"us-west-2": "aws", "cn-north-1": "aws-cn", "us-gov-east-1": "aws-us-gov"}, got); diff != "" {
		t.Error(diff)
	}
}
