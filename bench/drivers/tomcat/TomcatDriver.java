import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** Starts a server with one servlet, asks it from two threads, and stops it. */
public final class TomcatDriver {
    public static void main(String[] args) throws Exception {
        Path directory = Files.createTempDirectory("tomcat-driver");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(directory.toString());
        tomcat.setPort(0);
        Context context = tomcat.addContext("", directory.toString());
        Tomcat.addServlet(context, "hello", new Hello());
        context.addServletMappingDecoded("/*", "hello");
        tomcat.getConnector();
        tomcat.start();
        URL url = new URL("http://localhost:" + tomcat.getConnector().getLocalPort() + "/");
        Thread first = new Thread(() -> ask(url));
        Thread second = new Thread(() -> ask(url));
        first.start();
        second.start();
        first.join();
        second.join();
        tomcat.stop();
        tomcat.destroy();
    }

    private static void ask(URL url) {
        try (InputStream answer = url.openStream()) {
            System.out.println(new String(answer.readAllBytes()));
        } catch (IOException e) {
            e.printStackTrace();
        }
    }

    private static final class Hello extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            request.getSession().setAttribute("seen", request.getRequestURI());
            response.getWriter().println("hello " + request.getParameter("name"));
        }
    }
}
