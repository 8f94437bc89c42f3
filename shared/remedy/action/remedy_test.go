package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

// A remedy is asked for a plan only where all of its sources were read.
func TestMakeLooksFirst(t *testing.T) {
	planned := 0
	r := Remedy[string, any]{
		Sources: []snapshot.Source{snapshot.Groups},
		Plan:    func(l Look) (*string, *Refusal) { planned++; return &l.Subject.Cluster, nil },
	}
	p, no := r.Make(Look{Snapshot: whole(snapshot.Groups), Subject: Subject{Cluster: "prod"}})
	if no != nil || p == nil || *p != "prod" {
		t.Errorf("all was read: planned %v, refused %+v", p, no)
	}
	p, no = r.Make(Look{Snapshot: whole(), Subject: Subject{Cluster: "prod"}})
	want := &Refusal{
		Reason: CouldNotLook, Says: "No plan is made where something could not be read: auto scaling groups, not read.",
		Blocked: []snapshot.Failure{{Source: snapshot.Groups, Reason: snapshot.NotRead, Message: "nobody asked for it"}},
	}
	if diff := cmp.Diff(want, no); diff != "" || p != nil || planned != 1 {
		t.Errorf("the groups were not read: planned %v, asked %d times (-want +got):\n%s", p, planned, diff)
	}
}
