package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/infra/settings"
)

// clusters answers as EKS does: by name.
type clusters map[string]func() (*ekstypes.Cluster, error)

func (c clusters) DescribeCluster(_ context.Context, in *eks.DescribeClusterInput, _ ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	f, ok := c[*in.Name]
	if !ok {
		return nil, fmt.Errorf("operation error EKS: DescribeCluster, %w", &ekstypes.ResourceNotFoundException{})
	}
	cluster, err := f()
	if err != nil {
		return nil, err
	}
	return &eks.DescribeClusterOutput{Cluster: cluster}, nil
}

func (clusters) DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error) {
	return nil, &ekstypes.ResourceNotFoundException{}
}

// admitting has access entries of the reader, by cluster, with their tags.
type admitting struct {
	clusters
	tags map[string]map[string]string
}

const reader = "arn:aws:iam::111122223333:role/rollcall-reader-us-west-2"

func (a admitting) DescribeAccessEntry(_ context.Context, in *eks.DescribeAccessEntryInput, _ ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error) {
	tags, there := a.tags[*in.ClusterName]
	switch {
	case *in.PrincipalArn != reader || *in.ClusterName == "shut":
		return nil, errors.New("AccessDeniedException")
	case !there:
		return nil, fmt.Errorf("operation error EKS: DescribeAccessEntry, %w", &ekstypes.ResourceNotFoundException{})
	}
	return &eks.DescribeAccessEntryOutput{AccessEntry: &ekstypes.AccessEntry{Tags: tags}}, nil
}

// An access entry that the stack would make beside one made by hand rolls the stack back: it
// is refused with the command, and that it could not be looked at is said.
func TestEntriesMadeByHand(t *testing.T) {
	api := admitting{clusters{}, map[string]map[string]string{"hand": nil, "other": {"team": "a"}, "ours": {"Application": "Rollcall", "team": "a"}, "old": nil}}
	for _, name := range []string{"hand", "other", "ours", "none", "shut"} {
		api.clusters[name] = mode(ekstypes.AuthenticationModeApi)
	}
	api.clusters["old"] = mode(ekstypes.AuthenticationModeConfigMap)
	f := sorted(modes(t.Context(), api, []string{"hand", "none", "old", "other", "ours", "shut"}, reader))
	err := f.byHandError("us-west-2", reader)
	want := "the stack makes the access entry of Rollcall's reader in hand, other, and one was made there by hand: EKS refuses the second, and the whole stack would roll back." +
		" Delete it right before the deployment, or leave the cluster out of CLUSTERS and accessClusters:" +
		"\n  aws eks delete-access-entry --region us-west-2 --cluster-name hand --principal-arn " + reader + "\n  aws eks delete-access-entry --region us-west-2 --cluster-name other --principal-arn " + reader
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if says := f.words("us-west-2"); !strings.Contains(says, "shut: whether Rollcall's reader has an access entry there that was made by hand is not known (eks:DescribeAccessEntry: AccessDeniedException)") {
		t.Errorf("said %q", says)
	}
	if err := sorted(modes(t.Context(), api, []string{"hand"}, "")).byHandError("us-west-2", ""); err != nil {
		t.Errorf("of an account that is not known: %v", err)
	}
}

func mode(m ekstypes.AuthenticationMode) func() (*ekstypes.Cluster, error) {
	return func() (*ekstypes.Cluster, error) {
		return &ekstypes.Cluster{AccessConfig: &ekstypes.AccessConfigResponse{AuthenticationMode: m}}, nil
	}
}

func TestModes(t *testing.T) {
	denied := errors.New("api error AccessDeniedException: not authorized to perform: eks:DescribeCluster")
	api := clusters{
		"new": mode(ekstypes.AuthenticationModeApi), "both": mode(ekstypes.AuthenticationModeApiAndConfigMap), "old": mode(ekstypes.AuthenticationModeConfigMap),
		"older":  func() (*ekstypes.Cluster, error) { return &ekstypes.Cluster{}, nil },
		"shut":   func() (*ekstypes.Cluster, error) { return nil, denied },
		"hollow": func() (*ekstypes.Cluster, error) { return nil, nil },
	}
	names := []string{"both", "gone", "hollow", "new", "old", "older", "shut"}
	f := sorted(modes(t.Context(), api, names, reader))
	if diff := cmp.Diff([]string{"old", "older"}, f.configMap); diff != "" {
		t.Errorf("CONFIG_MAP (-want +got):\n%s", diff)
	}
	if got, want := f.context([]string{"given", "old"}), "-c configMapClusters=given,old,older\n"; got != want {
		t.Errorf("context: got %q, want %q", got, want)
	}
	if err := f.missingError("us-west-2"); err == nil || !strings.Contains(err.Error(), "EKS has no cluster gone in us-west-2") {
		t.Errorf("missing: %v", err)
	}
	words := f.words("us-west-2")
	for _, want := range []string{
		"old: authentication mode CONFIG_MAP. EKS refuses access entries there, so the stack makes none.", "output AwsAuthRoles under mapRoles",
		"aws eks update-cluster-config --region us-west-2 --name old --access-config authenticationMode=API_AND_CONFIG_MAP",
		"shut: its authentication mode is not known (eks:DescribeCluster: " + denied.Error(), "add configMapClusters=shut to SET",
		"hollow: its authentication mode is not known",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said in:\n%s", want, words)
		}
	}
	if strings.Contains(words, "new:") || strings.Contains(words, "both:") {
		t.Errorf("something is said of clusters that take access entries:\n%s", words)
	}
}

// Where all is well nothing is said, and nothing is added.
func TestNothingToSay(t *testing.T) {
	f := sorted(modes(t.Context(), clusters{"new": mode(ekstypes.AuthenticationModeApi)}, []string{"new"}, reader))
	if f.words("r") != "" || f.context(nil) != "" || f.missingError("r") != nil {
		t.Errorf("got %+v", f)
	}
}

// counting tells how many questions were under way at once.
type counting struct {
	clusters
	lock      sync.Mutex
	now, most int
}

func (c *counting) DescribeCluster(ctx context.Context, in *eks.DescribeClusterInput, o ...func(*eks.Options)) (*eks.DescribeClusterOutput, error) {
	c.lock.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.lock.Unlock()
	defer func() { c.lock.Lock(); c.now--; c.lock.Unlock() }()
	return c.clusters.DescribeCluster(ctx, in, o...)
}

func TestClustersAreAskedAFewAtATime(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprint("c", i))
	}
	api := &counting{}
	if got := len(sorted(modes(t.Context(), api, names, reader)).missing); got != 100 || api.most > atOnce {
		t.Errorf("%d answers, %d at once", got, api.most)
	}
}

// Only those are asked for in which an entry would be made.
func TestEntries(t *testing.T) {
	for _, test := range []struct {
		context map[string]any
		want    []string
	}{
		{map[string]any{}, nil},
		{map[string]any{"clusters": "b,a"}, []string{"a", "b"}},
		{map[string]any{"clusters": "a", "kubernetesAccess": "none"}, nil},
		{map[string]any{"clusters": "a", "accessClusters": "c"}, []string{"c"}},
	} {
		test.context["slackChannel"] = "C0123456789"
		chosen, err := settings.Parse(test.context)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, entries(chosen)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.context, diff)
		}
	}
}
