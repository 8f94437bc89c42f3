package leak

import "time"

// EC2's request bucket of DeleteNetworkInterface, for an account and region
// (EC2, "Request throttling for the Amazon EC2 API"). Others draw from it too:
// each node's VPC CNI, and EKS.
const (
	Bucket = 100 // requests at once
	Refill = 5.0 // a second
)

const (
	// leastRate keeps the pace trying, however many others there are.
	leastRate = 0.2
	// recovery is what a request that went through adds to the rate, and
	// quicker is by how much more the next one adds, until the next cut: others
	// may be gone as suddenly as they came, and a bucket that is full gains
	// nothing. What is not drawn meanwhile the bucket keeps, up to its size; so
	// once the belief has been wrong the rate may go over Refill, up to most,
	// and draws that too. (Measured in the test: within 5 % of the bucket's
	// time, with no more than 5 in 100 requests throttled.)
	recovery = 0.01
	quicker  = 0.001
	most     = 1.4 * Refill
	// reserve is left in a full bucket: while the first requests are on their
	// way, for up to half a second, it does not gain what it is believed to.
	reserve = 3
	// forgetting is after how long a rate that others forced is tried anew.
	forgetting = time.Minute
)

// Pace is a belief about EC2's bucket: deletes as fast as it refills, and no
// faster. The zero Pace is that of nobody having deleted anything.
type Pace struct {
	// Level is how many requests the bucket had at At.
	Level float64   `json:"level"`
	At    time.Time `json:"at"`
	// Rate is how many a second it is believed to gain, beside what others draw.
	Rate float64 `json:"rate"`
	// Cut is when the rate was last lowered: requests sent before say nothing
	// about the rate since.
	Cut time.Time `json:"cut,omitzero"`
	// out are the requests on their way, went those that went through since.
	out, went int
}

// Begin is the pace of a run, from what the last one left.
func Begin(last Pace, now time.Time) Pace {
	if last.At.After(now) || !(last.Rate > 0) || !(last.Level >= 0) {
		return Pace{Level: Bucket - reserve, At: now, Rate: Refill}
	}
	idle := now.Sub(last.At)
	last.out, last.went = 0, 0
	last.Rate = min(max(last.Rate, leastRate), most)
	last.gain(now)
	if idle >= forgetting {
		last.Rate, last.Cut = Refill, time.Time{}
	}
	return last
}

func (p *Pace) gain(now time.Time) {
	if d := now.Sub(p.At); d > 0 {
		p.Level, p.At = min(p.Level+p.Rate*d.Seconds(), Bucket-reserve), now
	}
}

// Take takes one request from the bucket, or tells how long to wait for it.
func (p *Pace) Take(now time.Time) (wait time.Duration) {
	p.gain(now)
	if p.Level < 1 {
		// Rounded up: a wait that is too short by a nanosecond is another one.
		return time.Duration((1-p.Level)/p.Rate*float64(time.Second)) + time.Microsecond
	}
	p.Level--
	p.out++
	return 0
}

// Give puts a request back that was not sent.
func (p *Pace) Give() { p.Level, p.out = min(p.Level+1, Bucket-reserve), max(p.out-1, 0) }

// Went notes a request that EC2 took.
func (p *Pace) Went() {
	p.out = max(p.out-1, 0)
	if !p.Cut.IsZero() {
		p.went++
		p.Rate = min(p.Rate+recovery+quicker*float64(p.went), most)
	}
}

// Lost notes a request of which nobody knows what came of it.
func (p *Pace) Lost() { p.out = max(p.out-1, 0) }

// Throttled notes a request, sent at a time, that EC2 refused to take: the
// bucket is empty. If we drew on what it was believed to have in store, that
// was wrong, and nothing is said of the rate; else others draw too, and the
// rate is halved, once for all requests that were on their way.
func (p *Pace) Throttled(sent, now time.Time) {
	p.gain(now)
	p.out = max(p.out-1, 0)
	stored := p.Level >= 1
	// What is on its way draws too, half of it after this one.
	p.Level = -float64(p.out) / 2
	if stored || sent.Before(p.Cut) {
		p.Cut = later(p.Cut, now)
		return
	}
	p.Cut, p.Rate, p.went = now, max(p.Rate/2, leastRate), 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Ready is how many requests may be sent within a time.
func (p Pace) Ready(now time.Time, within time.Duration) int {
	p.gain(now)
	return int(p.Level + p.Rate*within.Seconds())
}
