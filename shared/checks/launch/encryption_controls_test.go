package launch

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
)

func TestLaunchEncryptionControls(t *testing.T) {
	checktest.RunCases(t, EncryptionControls(), launchEncryptionControlsCases())
}

func launchEncryptionControlsCases() []checktest.Case {
	pass := []string{"pass prod [eks-workers]"}
	fails := []string{"fail eks-workers [eks-workers] [] workers cannot launch: its types do not encrypt in transit"}
	in := func(enforced, encrypts bool, kind, text string) *snapshot.Snapshot {
		return checktest.Change(ruled(text, kind, nil, nil), func(s *snapshot.Snapshot) {
			s.VPCs[0].Encrypts = enforced
			s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "t3.large", EncryptsInTransit: encrypts})
		})
	}
	return []checktest.Case{
		{"activities unread", checktest.Change(checktest.Attempted(unsupported), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"enforced, and the type does not encrypt", in(true, false, "t3.large", unsupported), fails},
		{"a text that is not known", in(true, false, "t3.large", "Something new. Launching EC2 instance failed."), fails},
		{"not enforced", in(false, false, "t3.large", unsupported), pass},
		{"the type encrypts", in(true, true, "t3.large", unsupported), pass},
		{"the type is not known", in(true, false, "x9.large", unsupported), pass},
		{"another cause", in(true, false, "t3.large", "Max spot instance count exceeded. Launching EC2 instance failed."), pass},
	}
}
