package gather

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/platform/wire"
	"rollcall/shared/snapshot"
)

// What is not asked for because the cluster could not be read is not said to
// have failed: the one permission that is missing is.
func TestClusterThatCannotBeRead(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "eks", "DescribeCluster", answer(func(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
			return nil, &wire.Error{Code: "AccessDeniedException", Status: 403, Message: "not allowed"}
		}))
	})
	s, err := r.Read(t.Context(), query(snapshot.Nodes, snapshot.Subnets))
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[snapshot.Source]snapshot.Reason{
		snapshot.Clusters: snapshot.Denied, snapshot.Nodes: snapshot.NotRead, snapshot.Subnets: snapshot.NotRead,
	} {
		if got := s.Failures[source]; got.Reason != want || got.Message == "" {
			t.Errorf("%s: %q (%s), want %q and why", source, got.Reason, got.Message, want)
		}
		if s.Has(source) {
			t.Errorf("%s counts as read", source)
		}
	}
}
