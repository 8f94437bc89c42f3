package ec2

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// imagesAPI answers each question with one image, named by its first filter.
type imagesAPI struct{ asked []string }

var errAsked = errors.New("asked enough")

func (a *imagesAPI) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	text := strings.Join(in.Owners, "+")
	for _, f := range in.Filters {
		text += " " + aws.ToString(f.Name) + "=" + strings.Join(f.Values, "|")
	}
	if a.asked = append(a.asked, text); len(a.asked) > 4 {
		return nil, errAsked
	}
	return &ec2.DescribeImagesOutput{Images: []types.Image{{ImageId: aws.String("ami-" + in.Filters[0].Values[0])}}}, nil
}

// TestSelectImages: a term by name or tags is one question, with Karpenter's own owners.
func TestSelectImages(t *testing.T) {
	terms := []snapshot.SelectorTerm{
		{ID: "ami-0a"}, {Alias: "al2023@latest"}, {SSMParameter: "/golden"}, {Name: "mine-*"}, {Name: "theirs", Owner: "222233334444"},
		{Tags: map[string]string{"team": "web", "any": "*"}}, {Name: "both", Tags: map[string]string{"team": "web"}},
	}
	a := &imagesAPI{}
	selected, list, err := selectImages(t.Context(), a, terms)
	if err != nil {
		t.Fatal(err)
	}
	asked := []string{"self+amazon name=mine-*", "222233334444 name=theirs", "self+amazon tag-key=any tag:team=web", "self+amazon name=both tag:team=web"}
	if diff := cmp.Diff(asked, a.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	want := []snapshot.SelectedImages{{Term: terms[3], Images: []string{"ami-mine-*"}}, {Term: terms[4], Images: []string{"ami-theirs"}}, {Term: terms[5], Images: []string{"ami-any"}}, {Term: terms[6], Images: []string{"ami-both"}}}
	if diff := cmp.Diff(want, selected); diff != "" || len(list) != 4 {
		t.Errorf("%d images, selected (-want +got):\n%s", len(list), diff)
	}
	if selected, list, err := selectImages(t.Context(), a, terms); !errors.Is(err, errAsked) || selected != nil || list != nil {
		t.Errorf("a failed question gives %v, %v, %v", selected, list, err)
	}
}
