package slack

import (
	"rollcall/shared/incident"
	"rollcall/shared/shell"
)

// replay tells with which command an incident is diagnosed again from what was kept of it.
func (p *page) replay(i incident.Incident) {
	if i.Evidence == nil {
		return
	}
	p.add(p.line().plain("What was read is kept. This diagnoses it again, also when it is gone: ").code(shell.Command("rollcall", "replay", i.Key.Name())).section())
}
