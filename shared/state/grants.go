package state

import "rollcall/shared/fn"

// Reads is what reading the table and its index over open launches needs.
func Reads() []fn.Read { return read(fn.Actions[Reader]("dynamodb"), fn.Table, fn.TableIndex) }

// ReadHistory is what reading the launches of the past, the open ones too, and
// the samples needs.
func ReadHistory() []fn.Read {
	return read(fn.Actions[Querier]("dynamodb"), fn.Table, fn.TableIndex, fn.EndedIndex)
}

// ReadJoinTimes is what reading the learned join times needs.
func ReadJoinTimes() []fn.Read { return read(fn.Actions[Querier]("dynamodb"), fn.Table) }

// ReadSamples is what reading the samples of subnets needs.
func ReadSamples() []fn.Read { return read(fn.Actions[Querier]("dynamodb"), fn.Table) }

// ReadLaunches is what reading launches by their ids needs.
func ReadLaunches() []fn.Read { return read(fn.Actions[Getter]("dynamodb"), fn.Table) }

// ReadIncidents is what reading incidents alone needs: no launch is in reach
// through the index.
func ReadIncidents() []fn.Read { return read(fn.Actions[Querier]("dynamodb"), fn.Table) }

func read(actions []string, from ...fn.Resource) []fn.Read {
	var names []string
	for _, r := range from {
		names = append(names, string(r))
	}
	return []fn.Read{{Actions: actions, Resources: names}}
}

// RecordLaunches lets a function write launch records and nothing else: the
// table's partition keys begin with the kind of the record.
func RecordLaunches() fn.Grant {
	return write("RecordLaunches", "Each launch is recorded once, whichever event or sweep brought it, until its outcome is known.", launchPrefix)
}

// RecordJoinTimes lets a function write how long nodes took to join.
func RecordJoinTimes() fn.Grant {
	return write("RecordJoinTimes", "How long the nodes of each nodegroup take to join is learned from those that did.", joinTimePrefix)
}

// RecordSamples lets a function write what subnets had left.
func RecordSamples() fn.Grant {
	return write("RecordSamples", "What a subnet had left when launches began tells later whether they were too many for it.", samplePrefix)
}

// RecordIncidents lets a function write incidents and nothing else.
func RecordIncidents() fn.Grant {
	return write("RecordIncidents", "What was said, where, and what is still to be said outlives the function.", incidentPrefix)
}

func write(sid, why, prefix string) fn.Grant {
	return fn.Grant{
		Sid:       sid,
		Why:       why,
		Actions:   fn.Actions[Writer]("dynamodb"),
		Resources: []fn.Resource{fn.Table},
		Conditions: map[string]map[string][]string{
			"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {prefix + "*"}},
		},
	}
}
