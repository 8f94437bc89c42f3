package stage

import (
	"slices"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
	"rollcall/local/simaws/deployment"
	"rollcall/local/simaws/world"
	"rollcall/shared/spoke"
)

// spokeOf is whose part of AWS answers what a key signs for a region; nil for the hub's.
func (s *Stage) spokeOf(accessKeyID, region string) *simaws.Cloud {
	for id, x := range s.spokes {
		if id.Region == region && x.cloud.Knows(accessKeyID) {
			return x.cloud
		}
	}
	return nil
}

// sessionIn makes a session known to the parts of AWS of its account.
func (s *Stage) sessionIn(who simaws.Identity) {
	for id, x := range s.spokes {
		if id.Account == who.Account {
			x.cloud.Admit(who)
		}
	}
}

// SpokeWorld is the world of a spoke.
func (s *Stage) SpokeWorld(id spoke.ID) *world.World { return s.spokes[id].world }

// SpokeBuckets are the request buckets of a spoke's account in its region.
func (s *Stage) SpokeBuckets(id spoke.ID) *simaws.Buckets { return s.spokes[id].buckets }

// SpokeCalls are the calls that a spoke's account has answered.
func (s *Stage) SpokeCalls(id spoke.ID) []wire.Call { return s.spokes[id].cloud.Calls() }

// adminOf is the person at the keyboard of a spoke's account: by a key of its own, as one
// address answers for all accounts.
func adminOf(id spoke.ID) simaws.Identity {
	return simaws.AdminIdentity(id.Account, Admin+"-"+id.Account)
}

// SpokeDeployment is a spoke's stack as IAM and EventBridge tell of it.
func (s *Stage) SpokeDeployment(id spoke.ID) *deployment.API { return s.spokes[id].deployment }

// SpokeTemplate is the template of a spoke's stack.
func (s *Stage) SpokeTemplate(id spoke.ID) *template.Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spokes[id].template
}

// OptIn deploys a spoke's stack as it is written for other settings. The sessions of roles
// that it has no more end.
func (s *Stage) OptIn(id spoke.ID, settings map[string]string) error {
	x := s.spokes[id]
	s.mu.Lock()
	before := x.template.Roles
	s.mu.Unlock()
	x.optedIn = settings
	if err := s.Redeploy(id, nil); err != nil {
		return err
	}
	for _, r := range before {
		if !slices.ContainsFunc(x.template.Roles, func(o template.Role) bool { return o.ARN == r.ARN }) {
			x.cloud.Revoke(r.ARN)
		}
	}
	return nil
}

// Redeploy deploys a spoke's stack with other parameters.
func (s *Stage) Redeploy(id spoke.ID, parameters map[string]string) error {
	return s.DeploySpoke(s.spokes[id], parameters)
}
