package eks

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// history is a nodegroup's updates, as EKS lists them, by the hour in which
// each was made; -1 is one that EKS lists and does not describe.
type history struct {
	hours     []int
	described int
}

func (h *history) ListUpdates(_ context.Context, in *eks.ListUpdatesInput, _ ...func(*eks.Options)) (*eks.ListUpdatesOutput, error) {
	if aws.ToString(in.NodegroupName) == "gone" {
		return nil, &types.ResourceNotFoundException{}
	}
	out := &eks.ListUpdatesOutput{}
	for i, hour := range h.hours {
		out.UpdateIds = append(out.UpdateIds, fmt.Sprintf("%d@%d", i, hour))
	}
	return out, nil
}

func (h *history) DescribeUpdate(_ context.Context, in *eks.DescribeUpdateInput, _ ...func(*eks.Options)) (*eks.DescribeUpdateOutput, error) {
	h.described++
	var i, hour int
	if _, err := fmt.Sscanf(aws.ToString(in.UpdateId), "%d@%d", &i, &hour); err != nil || hour < 0 {
		return nil, &types.ResourceNotFoundException{}
	}
	return &eks.DescribeUpdateOutput{Update: &types.Update{
		Id: in.UpdateId, Type: types.UpdateTypeConfigUpdate, Status: types.UpdateStatusFailed,
		CreatedAt: aws.Time(time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC)),
		Params:    []types.UpdateParam{{Type: types.UpdateParamTypeDesiredSize, Value: aws.String("3")}, {}},
		Errors:    []types.ErrorDetail{{ErrorCode: types.ErrorCodeNodeCreationFailure, ResourceIds: []string{"i-1"}}},
	}}, nil
}

// readInto reads the updates as a look does.
func readInto(t *testing.T, s *snapshot.Snapshot, api Updates, q source.Query) {
	t.Helper()
	of := updates(api)
	store, err := of.ReadFrom(t.Context(), source.View{Query: q, Snapshot: s})
	if err != nil {
		s.Failures[of.Name] = *of.Failure(err)
		return
	}
	store(s)
	s.Read[of.Name] = true
}

// The newest are found at whichever end of the list they are.
func TestNewestUpdates(t *testing.T) {
	for _, test := range []struct {
		name  string
		hours []int
		want  []int // the hours, the newest first
		fails bool
	}{
		{"none", nil, nil, false},
		{"few, in no order", []int{3, 9, 1}, []int{9, 3, 1}, false},
		{"many, the oldest first", []int{1, 2, 3, 4, 5, 6, 7, 8}, []int{8, 7, 6, 3, 2, 1}, false},
		{"many, the newest first", []int{8, 7, 6, 5, 4, 3, 2, 1}, []int{8, 7, 6, 3, 2, 1}, false},
		{"many, in no order", []int{5, 1, 8, 2, 7, 3, 6, 4}, nil, true},
		{"one that is forgotten", []int{1, -1, 3}, []int{3, 1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &history{hours: test.hours}
			list, err := updatesOf(t.Context(), h, "prod", "workers")
			if (err != nil) != test.fails {
				t.Fatalf("error %v, want one: %t", err, test.fails)
			}
			var got []int
			for _, u := range list {
				got = append(got, u.Created.Hour())
			}
			expect.Same(t, "hours", got, test.want)
			if h.described > 2*endOfList {
				t.Errorf("%d updates were described", h.described)
			}
		})
	}
}

func TestUpdateIsWhole(t *testing.T) {
	list, err := updatesOf(t.Context(), &history{hours: []int{7}}, "prod", "workers")
	want := []snapshot.Update{{
		ID: "0@7", Type: "ConfigUpdate", Status: "Failed", Created: time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC),
		Params: []string{"DesiredSize=3", "="}, Errors: []snapshot.Issue{{Code: "NodeCreationFailure", Resources: []string{"i-1"}}},
	}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if list, err := updatesOf(t.Context(), &history{}, "prod", "gone"); err != nil || list != nil {
		t.Errorf("of a nodegroup that is gone: %v, %v", list, err)
	}
}

// Only the updates that are asked for are read; of the others it is said that
// it was not requested.
func TestOnlyTheUpdatesThatAreAskedFor(t *testing.T) {
	h := &history{hours: []int{1}}
	s := &snapshot.Snapshot{
		Read:       map[snapshot.Source]bool{snapshot.Nodegroups: true},
		Failures:   map[snapshot.Source]snapshot.Failure{},
		Nodegroups: []snapshot.Nodegroup{{Name: "a"}, {Name: "b"}},
	}
	readInto(t, s, h, source.Query{Cluster: "prod", Updated: []string{"b"}})
	if len(s.Nodegroups[0].Updates) != 0 || len(s.Nodegroups[1].Updates) != 1 || h.described != 1 {
		t.Errorf("nodegroups %+v after %d calls, want the update of b", s.Nodegroups, h.described)
	}
	if f, lacks := s.Lacks(snapshot.Updates, "a"); !lacks || f.Reason != snapshot.NotRead || !s.Has(snapshot.Updates) {
		t.Errorf("of a: lacks %t, %+v", lacks, f)
	}
	delete(s.Read, snapshot.Updates)
	readInto(t, s, &history{hours: []int{5, 1, 8, 2, 7, 3, 6, 4}}, source.Query{Cluster: "prod"})
	if f, lacks := s.Lacks(snapshot.Updates, "b"); !lacks || f.Reason != snapshot.Broken || !slices.Contains(updates(nil).Actions(), f.Call) {
		t.Errorf("in no order: lacks %t, %+v", lacks, f)
	}
}

// TestUpdatesNotCaptured: what a capture lacks of one nodegroup takes nothing
// from the others. That an update was listed and is not there is reported.
func TestUpdatesNotCaptured(t *testing.T) {
	absent := &smithy.GenericAPIError{Code: "NotCaptured", Message: "the capture has no such file"}
	for _, test := range []struct {
		name   string
		err    error
		want   snapshot.Reason
		source bool
	}{
		{"not listed", &smithy.OperationError{ServiceID: "EKS", OperationName: "ListUpdates", Err: absent}, snapshot.NotRead, true},
		{"listed and not described", &smithy.OperationError{ServiceID: "EKS", OperationName: "DescribeUpdate", Err: absent}, snapshot.Broken, true},
		{"refused", &smithy.OperationError{ServiceID: "EKS", OperationName: "ListUpdates", Err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}, snapshot.Denied, false},
	} {
		s := &snapshot.Snapshot{
			Read:       map[snapshot.Source]bool{snapshot.Nodegroups: true},
			Failures:   map[snapshot.Source]snapshot.Failure{},
			Nodegroups: []snapshot.Nodegroup{{Name: "a"}, {Name: "b"}},
		}
		readInto(t, s, without{history: &history{hours: []int{1}}, nodegroup: "a", err: test.err}, source.Query{Cluster: "prod"})
		f, lacks := s.Lacks(snapshot.Updates, "a")
		if !test.source {
			f, lacks = s.Failures[snapshot.Updates], false
		}
		if s.Has(snapshot.Updates) != test.source || lacks != test.source || f.Reason != test.want {
			t.Errorf("%s: read %t, lacks %t, %+v", test.name, s.Has(snapshot.Updates), lacks, f)
		}
		if test.source && len(s.Nodegroups[1].Updates) != 1 {
			t.Errorf("%s: of b %+v, want its update", test.name, s.Nodegroups[1].Updates)
		}
	}
}

// without answers for one nodegroup with an error.
type without struct {
	*history
	nodegroup string
	err       error
}

func (w without) ListUpdates(ctx context.Context, in *eks.ListUpdatesInput, o ...func(*eks.Options)) (*eks.ListUpdatesOutput, error) {
	if aws.ToString(in.NodegroupName) == w.nodegroup {
		return nil, w.err
	}
	return w.history.ListUpdates(ctx, in, o...)
}

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, nodegroup)
	gathertest.Converts(t, addon)
	gathertest.Converts(t, func(e types.AccessEntry) snapshot.AccessEntry { return accessEntry("p", e) })
	gathertest.Converts(t, func(c types.Cluster) snapshot.Cluster { out, _ := cluster(c); return out })
}

// TestEmptyCluster: an answer that says nothing is read as nothing.
func TestEmptyCluster(t *testing.T) {
	if _, err := cluster(types.Cluster{}); err != nil {
		t.Errorf("cluster: %v", err)
	}
}
