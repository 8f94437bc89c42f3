package enicleanup

import (
	"context"
	"sync"
	"time"

	"rollcall/shared/network/leak"
)

// pacer is the pace of several deletes at once.
type pacer struct {
	mu    sync.Mutex
	pace  leak.Pace
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
}

// wait waits until a request may be sent, or until the context ends.
func (p *pacer) wait(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.mu.Lock()
		wait := p.pace.Take(p.now())
		p.mu.Unlock()
		if wait == 0 {
			return nil
		}
		if err := p.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

func (p *pacer) note(what func(*leak.Pace)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what(&p.pace)
}

// left is the pace as it is now.
func (p *pacer) left() leak.Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pace
}

// ahead is how long before its delete an interface is described again, at
// most, when all goes as the pace says.
const ahead = 4 * time.Second

// The least and the most interfaces that are described again at once.
const (
	fewest = 10
	most   = 50
)

// batch is how many interfaces to describe again at once.
func (p *pacer) batch() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(p.pace.Ready(p.now(), ahead), fewest), most)
}
