package joincheck

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// instances are those of the group, ended ones too.
func (s *story) instances() []ec2types.Instance {
	out, err := s.World.Call("ec2:DescribeInstances", json.RawMessage(`{"Filters":[{"Name":"tag:eks:nodegroup-name","Values":["`+stagetest.Nodegroup+`"]}]}`))
	if err != nil {
		s.t.Fatal(err)
	}
	answer, ok := out.(*ec2.DescribeInstancesOutput)
	if !ok {
		s.t.Fatalf("DescribeInstances answered %T", out)
	}
	var list []ec2types.Instance
	for _, r := range answer.Reservations {
		list = append(list, r.Instances...)
	}
	return list
}

func (s *story) why(id string) string {
	for _, in := range s.instances() {
		if *in.InstanceId == id && in.StateReason != nil {
			return aws.ToString(in.StateReason.Code)
		}
	}
	return ""
}

// truth is how a launch ended, as the world knows it.
func (s *story) truth(in ec2types.Instance) snapshot.End {
	id := *in.InstanceId
	lived := s.ended[id].Sub(*in.LaunchTime)
	switch code := s.why(id); {
	case !s.ready[id].IsZero():
		return snapshot.Joined
	case s.ended[id].IsZero() && s.Now().Sub(*in.LaunchTime) > 26*time.Minute:
		return snapshot.NotJoined // given up
	case s.ended[id].IsZero():
		return snapshot.Open // or not recorded: it is too young
	case code == "Server.SpotInstanceTermination" && lived <= outcome.Longest:
		return snapshot.Reclaimed
	case code == "Client.InvalidKMSKey.InvalidState":
		return snapshot.Refused
	case code == "Client.UserInitiatedShutdown" && lived < 5*time.Minute:
		return snapshot.Terminated
	}
	return snapshot.NotJoined
}

func (s *story) judge() {
	history, err := s.Store.History(s.t.Context(), stagetest.Cluster, s.World.Start().Add(-time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]snapshot.Past{}
	for _, p := range history {
		if _, twice := got[p.ID]; twice {
			s.t.Errorf("%s is in the history twice", p.ID)
		}
		got[p.ID] = p
	}
	want := map[string]snapshot.End{refusedActivity: snapshot.Refused}
	for _, in := range s.instances() {
		if s.Now().Sub(*in.LaunchTime) < 7*time.Minute {
			delete(got, *in.InstanceId) // the next sweep is still to see it
			continue
		}
		want[*in.InstanceId] = s.truth(in)
	}
	for id, end := range want {
		p, ok := got[id]
		if !ok || p.End != end {
			l, _ := s.Launch(id)
			s.t.Errorf("%s: %s (%s), truly %s; %+v", id, cmp.Or(string(p.End), "open or not recorded"), p.Why, end, l)
		}
		delete(got, id)
	}
	for id, p := range got {
		s.t.Errorf("%s: %s, and there was no such launch", id, p.End)
	}
}
