// One filter for all requests.
package board;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.annotation.WebFilter;
import javax.servlet.http.HttpServletResponse;

@WebFilter("/*")
public class CountingFilter implements Filter {
    private final AtomicInteger all = new AtomicInteger();
    private FilterConfig config;
    private String encoding;
    private int running;
    private int inside;

    @Override
    public void init(FilterConfig config) {
        this.config = config; //~ no unprotected-write: config
        encoding = config.getInitParameter("encoding"); //~ no unprotected-write: encoding
        if (encoding == null) {
            encoding = "UTF-8";
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        request.setCharacterEncoding(encoding);
        all.incrementAndGet(); //~ no unprotected-write: all
        running++; //~ unprotected-write: running
        enter();
        try {
            ((HttpServletResponse) response).setHeader("X-Running", running + " of " + all + " " + config.getFilterName());
            chain.doFilter(request, response);
        } finally {
            leave();
            running--;
        }
    }

    private synchronized void enter() {
        inside++; //~ no unprotected-write: inside
    }

    private synchronized void leave() {
        inside--;
        notifyAll();
    }

    @Override
    public void destroy() {
        synchronized (this) {
            System.out.println("left inside: " + inside);
        }
    }
}
