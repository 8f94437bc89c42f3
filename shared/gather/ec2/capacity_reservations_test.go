package ec2

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// reserving has some reservations, and refuses a request for any other as EC2 does.
type reserving struct {
	ids   []string
	code  string
	calls int
}

func (r *reserving) DescribeCapacityReservations(_ context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	r.calls++
	out := &ec2.DescribeCapacityReservationsOutput{}
	for _, id := range in.CapacityReservationIds {
		if !slices.Contains(r.ids, id) {
			return nil, &smithy.GenericAPIError{Code: r.code}
		}
		out.CapacityReservations = append(out.CapacityReservations, types.CapacityReservation{CapacityReservationId: &id})
	}
	return out, nil
}

// One that is gone hides no other, and is itself not there; any other refusal is told.
func TestReservationsThatAreGone(t *testing.T) {
	const gone = "InvalidCapacityReservationId.NotFound"
	for name, tt := range map[string]struct {
		of    []string
		code  string
		want  []string
		calls int
		fails bool
	}{
		"none is named": {[]string{"", "{{resolve:ssm:/cr}}"}, gone, nil, 0, false},
		"all there":     {[]string{"cr-1", "cr-2", "cr-1"}, gone, []string{"cr-1", "cr-2"}, 1, false},
		"one is gone":   {[]string{"cr-1", "cr-9", "cr-2"}, gone, []string{"cr-1", "cr-2"}, 4, false},
		"it is alone":   {[]string{"cr-9"}, gone, nil, 2, false},
		"denied":        {[]string{"cr-9"}, "UnauthorizedOperation", nil, 1, true},
	} {
		api := &reserving{ids: []string{"cr-1", "cr-2"}, code: tt.code}
		var templates []snapshot.LaunchTemplate
		for _, id := range tt.of {
			templates = append(templates, snapshot.LaunchTemplate{Reservation: id})
		}
		store, err := readReservations(t.Context(), api, templates)
		if (err != nil) != tt.fails || api.calls != tt.calls {
			t.Errorf("%s: %v, %d calls", name, err, api.calls)
		}
		if err != nil {
			continue
		}
		var s snapshot.Snapshot
		store(&s)
		var got []string
		for _, r := range s.CapacityReservations {
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
