import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;

/** Starts a server with one handler, asks it from two threads, and stops it. */
public final class JettyDriver {
    public static void main(String[] args) throws Exception {
        Server server = new Server(0);
        server.setHandler(new Hello());
        server.start();
        int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        URL url = new URL("http://localhost:" + port + "/");
        Thread first = new Thread(() -> ask(url));
        Thread second = new Thread(() -> ask(url));
        first.start();
        second.start();
        first.join();
        second.join();
        server.stop();
        server.join();
    }

    private static void ask(URL url) {
        try (InputStream answer = url.openStream()) {
            System.out.println(new String(answer.readAllBytes()));
        } catch (IOException e) {
            e.printStackTrace();
        }
    }

    private static final class Hello extends AbstractHandler {
        @Override
        public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            base.setHandled(true);
            response.getWriter().println("hello " + request.getParameter("name"));
        }
    }
}
