package facts

import (
	"rollcall/shared/network/path"
	"rollcall/shared/node/userdata"
	"rollcall/shared/snapshot"
)

// Describing is what some instances must reach beside what every node needs:
// EKS itself, where all of them ask it for the cluster's endpoint and authority
// (bootstrap.sh and its Windows twin without these arguments). User data that
// was not read, or that may take another branch, is no reason to blame a path.
func (st *BootConfig) Describing(list []*snapshot.Instance) []path.Service {
	for _, i := range list {
		if _, own := st.own[i.ID]; !own {
			return nil
		}
		t, _ := st.Data(i)
		if t == nil || t.Err != nil || !t.Describes || t.Branch || t.Has(userdata.NodeConfig) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []path.Service{path.EKS}
}
