package facts

import (
	"rollcall/shared/snapshot"
)

// Proxied is where the user data of one of the instances, or of the launch
// template that made it, names a proxy; empty for none. Nodes behind one need
// no way of their own to public addresses, and it can stand in the same VPC,
// where it needs no route. The template counts too: what an instance was told
// is not always read, and EKS adds to what the template says.
func (st *BootConfig) Proxied(list []*snapshot.Instance) (from string) {
	for _, i := range list {
		if n, ok := st.own[i.ID]; ok && st.ownData(n).Proxy {
			return st.S.UserData[n].From
		}
		if lt := st.Template(TemplateOf(i)); lt != nil && st.TemplateData(lt).Proxy {
			return lt.ID
		}
	}
	return ""
}
