// Package correlate tells which failures belong together: what a leak, or a
// subnet without a free block, starves; which incident says what another one said;
// which symptoms a cause explains.
package correlate

import (
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// Look is one observation on its way through the incidents.
type Look struct {
	Observation report.Observation
	Now         time.Time
	Policy      incident.Policy
	Updates     []*incident.Update
}
